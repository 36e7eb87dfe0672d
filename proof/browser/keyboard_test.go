package browser

import (
	"fmt"
	"strings"
	"testing"

	"github.com/chromedp/chromedp/kb"
)

// row is the number of the row that has the focus, from 1; zero: none has.
const row = `[...document.querySelectorAll("main tbody tr")].findIndex((r) => r.contains(document.activeElement)) + 1`

func TestTheKeysGoThroughRowsAndPagesAndOpenTheFilters(t *testing.T) {
	t.Parallel()
	w := needWorld(t, "sqlite")
	p := newTab(t, w.console, operator)
	list := inBox(orders, "/messages")
	p.open(list)
	for _, step := range []struct {
		key string
		row int
	}{{"j", 1}, {"j", 2}, {"j", 3}, {"k", 2}, {"k", 1}, {"k", 1}} {
		p.press(step.key)
		if at := js[int](p, row); at != step.row {
			t.Errorf("after %s the focus is in row %d, want %d", step.key, at, step.row)
		}
	}
	p.leads(func() { p.press(kb.Enter) })
	if at := p.where(); !strings.HasPrefix(at, list+"/") {
		t.Errorf("enter in a row leads to %s", at)
	}

	p.open(list)
	p.leads(func() { p.press("n") })
	second := p.where()
	if !strings.Contains(second, "cursor=") {
		t.Errorf("n leads to %s", second)
	}
	p.leads(func() { p.press("p") })
	if at := p.where(); at == second || strings.Contains(at, "cursor=") {
		t.Errorf("p leads from the second page to %s", at)
	}

	p.press("/")
	if !js[bool](p, `document.activeElement.closest("form[role=search]") !== null && document.activeElement.closest("details").open`) {
		t.Error("/ does not open the filters")
	}
	p.press(kb.Tab + kb.Tab)
	p.press("jn?") // keys that are typed into a field are no commands
	if typed := js[string](p, `document.activeElement.value`); typed != "jn?" || p.where() == second {
		t.Errorf("a field has %q, and the page is %s", typed, p.where())
	}
}

func TestTheKeysAreExplainedInADialog(t *testing.T) {
	t.Parallel()
	w := needWorld(t, "sqlite")
	p := newTab(t, w.console, viewer)
	p.open(inBox(orders, "/messages"))
	const open = `document.querySelector("dialog").open`
	p.press("?")
	if !js[bool](p, open) || len(js[[]string](p, `[...document.querySelectorAll("dialog kbd")].map((k) => k.innerText)`)) < 6 {
		t.Error("? opens no dialog with the keys")
	}
	for _, v := range axe(p) {
		t.Errorf("of the dialog axe-core says %s: %q", v.Help, v.Nodes)
	}
	p.press("j") // the page behind it has no keys meanwhile
	if at := js[int](p, row); at != 0 {
		t.Errorf("behind the dialog the focus goes to row %d", at)
	}
	p.press(kb.Escape)
	if js[bool](p, open) {
		t.Error("escape does not close the dialog")
	}
	p.press("??")
	if js[bool](p, open) {
		t.Error("a second ? does not close the dialog")
	}
}

// reachable are the elements of a page that a key must reach: those that can be seen, and that do something or scroll.
const reachable = `[...document.querySelectorAll("a[href], button, input:not([type=hidden]), select, summary, [tabindex='0']")].filter((e) => e.checkVisibility())`

// focused describes what has the focus, after it was marked as reached: whether it shows that it has it.
const focused = `(() => {
	const e = document.activeElement;
	if (!e || e === document.body) return "";
	e.dataset.reached = "yes";
	const s = getComputedStyle(e), box = e.getBoundingClientRect();
	const seen = s.outlineStyle !== "none" && parseFloat(s.outlineWidth) >= 1 && box.width > 0 && box.right > 0 && box.bottom > 0;
	return (seen ? "seen " : "unseen ") + e.outerHTML.slice(0, 120);
})()`

func TestTheTabKeyReachesEverythingAndTheFocusCanBeSeen(t *testing.T) {
	t.Parallel()
	w := needWorld(t, "sqlite")
	p := newTab(t, w.console, admin)
	p.first(inBox(orders, "/messages?state=dead&subscription=email"))
	one := p.where()
	for _, page := range []string{one + "?payload=true", inBox(orders, "/errors"), inBox(orders, "/subscriptions/billing"), inBox(orders, "/messages?state=scheduled"), "/databases/shop/audit"} {
		p.open(page)
		for range js[int](p, reachable+`.length`) + 2 {
			p.press(kb.Tab)
			if what := js[string](p, focused); strings.HasPrefix(what, "unseen") {
				t.Errorf("on %s the focus cannot be seen: %s", page, what)
			}
		}
		if left := js[[]string](p, reachable+`.filter((e) => !e.dataset.reached).map((e) => e.outerHTML.slice(0, 120))`); len(left) > 0 {
			t.Errorf("on %s no tab reaches %q", page, left)
		}
	}
}

// tabTo presses the tab key until an element has the focus.
func (p *tab) tabTo(selector string) {
	p.t.Helper()
	for range 200 {
		if js[bool](p, fmt.Sprintf(`document.activeElement.matches(%q)`, selector)) {
			return
		}
		p.press(kb.Tab)
	}
	p.t.Fatalf("no tab reaches %s", selector)
}

func TestACommandIsGivenWithTheKeyboardAlone(t *testing.T) {
	t.Parallel()
	w := needWorld(t, "sqlite")
	p := newTab(t, w.console, admin)
	p.open(inBox(orders, "/subscriptions/billing"))
	for _, do := range []string{"pause", "resume"} {
		why := do + " by keys"
		p.tabTo(command + " input[name=why]")
		p.press(why)
		p.tabTo(command + " button[value=" + do + "]")
		p.leads(func() { p.press(kb.Enter) })
		p.audited(admin, why, do)
		p.open(inBox(orders, "/subscriptions/billing"))
	}
}
