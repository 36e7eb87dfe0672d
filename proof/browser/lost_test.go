package browser

import (
	"context"
	"strconv"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
)

// note is what the page says of its own state, such as that it is not up to date.
const note = `(document.querySelector("[role=status]")?.innerText ?? "").trim()`

// ownConsole starts a console that the test may kill.
func ownConsole(t *testing.T, w *world, port int, args ...string) *console {
	t.Helper()
	c, err := w.startConsole(port, args...)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// kill ends a console as kill -9 does.
func (c *console) kill(t *testing.T) {
	t.Helper()
	if err := c.process.Kill(context.Background()); err != nil {
		t.Fatal(err)
	}
}

func TestAPageSaysThatItsConnectionIsLostAndGoesOnWhenItIsBack(t *testing.T) {
	t.Parallel()
	w := needWorld(t, "sqlite")
	c := ownConsole(t, w, 0)
	p := newTab(t, c, "")
	p.excuse("net::ERR_")
	p.open("/")
	said := js[string](p, note)
	before := p.text("main")
	js[bool](p, `window.same = true`)
	c.kill(t)
	p.until("the page says that it is not up to date", note+` !== `+strconv.Quote(said))
	if p.text("main") == "" || len(p.text("main")) < len(before)/2 {
		t.Errorf("without a connection the page shows %q", p.text("main"))
	}
	for _, v := range axe(p) {
		t.Errorf("of the page without a connection axe-core says %s: %q", v.Help, v.Nodes)
	}
	p.picture(artefacts("lost-connection"))

	c = ownConsole(t, w, c.port())
	p.until("the page is up to date again", note+` === `+strconv.Quote(said))
	if c.root != p.root || !js[bool](p, `window.same === true`) {
		t.Error("the page was loaded again, and did not go on by itself")
	}
}

func TestASessionThatEndedLeadsToTheLoginAndBack(t *testing.T) {
	t.Parallel()
	w := needWorld(t, "sqlite")
	args := []string{"--access", w.access, "--payloads", "--commands"}
	c := ownConsole(t, w, 0, args...)
	p := newTab(t, c, operator)
	p.excuse("net::ERR_")
	p.excuse("401")
	list := inBox(orders, "/messages?state=dead&subscription=email")
	live := inBox(orders, "/subscriptions/email")
	p.open(live)
	if !strings.Contains(p.text("header"), operator) {
		t.Fatalf("nobody is logged in: %q", p.text("header"))
	}
	c.kill(t)
	ownConsole(t, w, c.port(), args...) // sessions end with the process
	p.until("the page says that the session has ended", note+`.includes("session")`)
	p.leads(func() { p.do("load it again", chromedp.Reload()) })
	p.logsIn(operator, live)

	js[bool](p, `fetch("/logout", {method: "POST"}).then(() => true)`)
	p.open(list)
	for _, v := range axe(p) {
		t.Errorf("of the login axe-core says %s: %q", v.Help, v.Nodes)
	}
	p.picture(artefacts("login"))
	p.logsIn(operator, list)
}

// logsIn fills in the page of the login, and checks where it leads.
func (p *tab) logsIn(user, back string) {
	p.t.Helper()
	if !strings.HasPrefix(p.where(), "/login") {
		p.t.Fatalf("without a session the page is %s", p.where())
	}
	p.do("log in", chromedp.SendKeys(chromedp.CSS("input[name=name]"), user), chromedp.SendKeys(chromedp.CSS("input[type=password]"), password))
	p.leads(func() { p.click("main button") })
	if at := p.where(); at != back {
		p.t.Errorf("after the login the page is %s, want %s", at, back)
	}
}
