package browser

import (
	"net/http"
	"strings"
	"testing"
)

// buttons are those of the page itself that change something.
const buttons = `[...document.querySelectorAll("main form[method=post] button")].map((b) => b.textContent)`

// post sends a form as a script of the page would, and returns the status of the answer.
func (p *tab) post(path, form string) int {
	p.t.Helper()
	return js[int](p, `fetch("`+path+`", {method: "POST", headers: {"Content-Type": "application/x-www-form-urlencoded"}, body: "`+form+`", redirect: "manual"}).then((a) => a.status)`)
}

func TestAViewerSeesNoButtonsAndGivesNoCommands(t *testing.T) {
	t.Parallel()
	w := needWorld(t, "sqlite")
	p := newTab(t, w.console, viewer)
	p.excuse("403")
	list := inBox(orders, "/messages?state=dead&subscription=email")
	p.first(list)
	one := p.where()
	for _, page := range []string{one, inBox(orders, "/errors"), inBox(orders, "/subscriptions/email"), inBox(orders, "/messages?state=scheduled")} {
		if status := p.open(page); status != http.StatusOK {
			t.Errorf("%s answers %d", page, status)
		}
		if all := js[[]string](p, buttons); len(all) > 0 {
			t.Errorf("on %s a viewer has the buttons %q", page, all)
		}
	}
	p.open(one)
	for path, form := range map[string]string{
		one + "/commands":                              "do=discard&subscription=email&why=x",
		inBox(orders, "/errors/commands"):              "do=discard&subscription=email&state=dead&kind=x&why=x",
		inBox(orders, "/subscriptions/email/commands"): "do=pause&why=x",
	} {
		for _, prefix := range []string{"", "/api/v1"} {
			if status := p.post(prefix+path, form); status != http.StatusForbidden {
				t.Errorf("a viewer's command to %s answers %d", prefix+path, status)
			}
		}
	}
	if p.open("/databases/shop/audit") != http.StatusForbidden {
		t.Error("a viewer sees the audit log")
	}
	p.open(one + "?payload=true")
	if text := p.text("main"); strings.Contains(text, "eu-1") || strings.Contains(text, "lamp") {
		t.Errorf("a viewer sees a payload or a header: %q", text)
	}
}

func TestAnAdminSeesPayloadsAndAnOperatorDoesNot(t *testing.T) {
	t.Parallel()
	w := needWorld(t, "sqlite")
	for user, sees := range map[string]bool{admin: true, operator: false} {
		p := newTab(t, w.console, user)
		if !sees {
			p.excuse("403")
		}
		p.first(inBox(orders, "/messages?state=dead&subscription=email"))
		if len(js[[]string](p, buttons)) < 2 {
			t.Errorf("%s has no buttons", user)
		}
		p.open(p.where() + "?payload=true")
		if text := p.text("main"); strings.Contains(text, "eu-1") != sees || strings.Contains(text, "lamp") != sees {
			t.Errorf("%s sees payload and headers: want %v, on the page %q", user, sees, text)
		}
	}
}

func TestSomebodyWithOneBoxSeesNoOther(t *testing.T) {
	t.Parallel()
	w := needWorld(t, "sqlite")
	p := newTab(t, w.console, narrow)
	for _, code := range []string{"403", "404"} {
		p.excuse(code)
	}
	p.open("/")
	if text := p.text("body"); !strings.Contains(text, work) || strings.Contains(text, orders) || strings.Contains(text, hostile) {
		t.Errorf("the overview is %q", text)
	}
	for _, page := range []string{"", "/messages", "/errors", "/keys", "/subscriptions/email"} {
		if status := p.open(inBox(orders, page)); status != http.StatusNotFound {
			t.Errorf("%s of another box answers %d", page, status)
		}
	}
	if status := p.post(inBox(orders, "/subscriptions/email/commands"), "do=pause&why=x"); status != http.StatusNotFound {
		t.Errorf("a command to another box answers %d", status)
	}
}
