package browser

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
)

// attack is a text that runs a script if a page takes it for HTML.
const attack = `<img src=x class=attack onerror="window.attacked=1">`

// attacks are texts that break out of other places of a page: attributes, links, scripts, styles, comments, templates.
var attacks = []string{
	attack,
	`<script class=attack>window.attacked=2</script>`,
	`"><svg class=attack onload=window.attacked=3>`,
	`' onfocus=window.attacked=4 autofocus x='`,
	`javascript:window.attacked=5//`,
	`</title></textarea></style></script><iframe class=attack srcdoc="<script>parent.attacked=6</script>">`,
	`{{"attacked"}}${window.attacked=7}`,
	`--></pre></dl></table><form class=attack action=javascript:window.attacked=8><button autofocus>x</button></form>`,
	"\u202etxt.exe\u2066<math class=attack><a xlink:href=javascript:window.attacked=9>",
}

// fillHostile puts each attack into every text of a message that others write. The partner refuses some of them, and the topics have no
// stream, so errors are there, too.
func fillHostile(w *world) error {
	all := make([]message, 0, len(attacks)+1)
	for i, text := range attacks {
		all = append(all, message{Topic: text, Key: text, Type: text, Headers: map[string]string{fmt.Sprintf("h%d", i): text}, Payload: text})
	}
	all = append(all, message{Topic: attack, Key: attack, Type: attack, Payload: map[string]string{attack: attack}})
	if err := w.publish(hostile, all...); err != nil {
		return err
	}
	if err := w.comes(hostile, "partner", "dead", 1); err != nil {
		return err
	}
	err := await("a topic of an attack is held", func() bool {
		n, err := w.count(hostile, "events", "held")
		return err == nil && n > 0
	})
	if err != nil {
		return err
	}
	return w.with("subscriptions", "pause", "events", "--box", hostile, "--who", attack, "--why", attacks[1]+attacks[2])
}

func TestNoTextOfAMessageIsTakenForAPartOfThePage(t *testing.T) {
	t.Parallel()
	onEachStore(t, func(t *testing.T, w *world) {
		p := newTab(t, w.console, admin)
		pages := []string{"/", "/databases/shop/audit", inBox(hostile, ""), inBox(hostile, "/messages"), inBox(hostile, "/errors"), inBox(hostile, "/keys"), inBox(hostile, "/subscriptions/events"), inBox(hostile, "/subscriptions/partner")}
		p.open(inBox(hostile, "/messages"))
		links := js[[]string](p, `[...document.querySelectorAll("main tbody a")].map((a) => a.href)`)
		slices.Sort(links)
		for _, link := range slices.Compact(links) {
			to, below := strings.CutPrefix(link, p.root)
			if !below {
				t.Errorf("a link leads to %s", link)
			}
			pages = append(pages, to)
			if strings.HasPrefix(to, inBox(hostile, "/messages/")) {
				pages = append(pages, to+"?payload=true", to+"/key")
			}
		}
		if len(pages) < 30 {
			t.Errorf("there are only the pages %q", pages)
		}
		shown := 0
		for _, at := range pages {
			if status := p.open(at); status != http.StatusOK {
				t.Errorf("%s answers %d", at, status)
			}
			shown += unharmed(p, at)
		}
		if shown < 100 {
			t.Errorf("the pages show attacks %d times: they do not show the messages", shown)
		}
	})
}

// unharmed checks that no attack has become a part of the page, and returns how often they are shown as texts.
func unharmed(p *tab, at string) int {
	p.t.Helper()
	js[bool](p, `document.querySelectorAll("details").forEach((d) => d.open = true) || true`)
	if ran := js[string](p, `String(window.attacked)`); ran != "undefined" {
		p.t.Errorf("on %s attack %s ran", at, ran)
	}
	if parts := js[[]string](p, `[...document.querySelectorAll(".attack, main img, main script, main svg:not(figure > svg), main iframe, main math, [autofocus], [onfocus], [onload], [onerror], [href^='javascript:' i], [action^='javascript:' i]")].map((e) => e.outerHTML)`); len(parts) > 0 {
		p.t.Errorf("on %s texts became %q", at, parts)
	}
	return js[int](p, `document.querySelector("main").innerText.split("attacked").length - 1`)
}
