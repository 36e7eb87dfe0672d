package browser

import (
	"fmt"
	"html"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
)

// elsewhere is a page of another site, which the console's own browser opens. What it has is tried at once, with the cookie of the
// session.
func elsewhere(t *testing.T, body string) string {
	t.Helper()
	site := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		_, _ = fmt.Fprintf(w, "<!doctype html><title>elsewhere</title><body>%s", body)
	}))
	t.Cleanup(site.Close)
	return strings.Replace(site.URL, "127.0.0.1", "localhost", 1) // another site than 127.0.0.1
}

func TestAPageOfAnotherSiteGivesNoCommandsWithTheSessionOfItsVisitor(t *testing.T) {
	t.Parallel()
	w := needWorld(t, "sqlite")
	at := inBox(orders, "/subscriptions/billing")
	fields := `<input name=do value=pause><input name=why value="by another site">`
	for name, body := range map[string]string{
		"a form":   `<form id=f method=post action="%s">` + fields + `</form><script>f.submit()</script>`,
		"a script": `<script>fetch("%s", {method: "POST", mode: "no-cors", credentials: "include", headers: {"Content-Type": "application/x-www-form-urlencoded"}, body: "do=pause&why=by+another+site"}).catch(() => 0).then(() => document.title = "sent")</script>`,
		"a frame":  `<iframe id=i src="%s"></iframe><script>i.onload = () => document.title = "sent"</script>`,
	} {
		p := newTab(t, w.console, admin)
		for _, excuse := range []string{"a request goes elsewhere", "403", "401", "net::ERR", "frame-ancestors", "Cross-Origin", "blocked", "favicon"} {
			p.excuse(excuse)
		}
		to := w.console.root + at + "/commands"
		if name == "a frame" {
			to = w.console.root + at
		}
		p.do("go elsewhere", chromedp.Navigate(elsewhere(t, fmt.Sprintf(body, html.EscapeString(to)))))
		if name == "a form" {
			p.until("the form is answered", `location.href.startsWith("`+w.console.root+`")`)
			if text := p.text("body"); !strings.Contains(text, "a page of another site") {
				t.Errorf("the form of another site is answered with %q", text)
			}
		} else {
			p.until("it was tried", `document.title === "sent"`)
		}
		if name == "a frame" {
			p.must(await("the browser refuses to show a page of the console in a frame", func() bool { return p.hasFault("frame-ancestors") }))
		}
	}
	p := newTab(t, w.console, admin)
	p.open("/databases/shop/audit")
	if text := p.text("main"); strings.Contains(text, "by another site") {
		t.Errorf("another site has given a command: %q", text)
	}
	p.open(at)
	if js[bool](p, `!!document.querySelector("`+command+` button[value=resume]")`) {
		t.Error("the subscription is paused")
	}
}
