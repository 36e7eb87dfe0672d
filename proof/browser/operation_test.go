package browser

import (
	"fmt"
	"strconv"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"github.com/postbag/postbag/internal/testserver/servertest"
)

// many is how many messages have the same error.
func many() int {
	if servertest.Full() {
		return 100_000
	}
	return 600
}

// inBulk is a box of its own, since it takes long to fill in the long form.
const inBulk = "bulk"

// matching counts the dead messages of a box, as the page before an operation does.
func (p *tab) matching(box string) int {
	p.t.Helper()
	return js[int](p, `fetch("/api/v1`+inBox(box, "/operations/preview")+`?state=dead&subscription=default").then((a) => a.json()).then((v) => v.messages)`)
}

// behind is how many messages the operation of the page has behind it.
const behind = `document.querySelector("main progress").value`

// looksAt judges the page as it is, in each look.
func (p *tab) looksAt(w *world, name string) {
	p.t.Helper()
	for _, l := range looksIn(w) {
		p.size(l.width)
		p.scheme(l.scheme)
		l.judge(p, name)
		p.picture(artefacts(fmt.Sprintf("%s/%s-%d-%s", w.name, name, l.width, l.scheme)))
	}
	p.wide()
}

func TestALargeGroupOfErrorsIsRetriedWithProgressAndCancelledHalfWay(t *testing.T) {
	t.Parallel()
	onEachStore(t, func(t *testing.T, w *world) {
		p, n := newTab(t, w.console, operator), many()
		fillBulk(p, w, n)
		p.open(inBox(inBulk, "/errors"))
		p.leads(func() { p.click("main tbody details a") })
		p.looksAt(w, "preview")
		p.do("say how fast, and how many", chromedp.SendKeys(chromedp.CSS(command+" input[name=rate]"), strconv.Itoa(n/16)), chromedp.SendKeys(chromedp.CSS(command+" input[name=confirm]"), strconv.Itoa(n)))
		p.command(command, "retry", "the partner is up again")
		js[bool](p, `window.same = true`)
		p.until("the page shows progress by itself", behind+` > 0`)
		before := js[int](p, behind)
		p.until("the progress goes on", fmt.Sprintf(behind+` > %d`, before))
		if at := js[int](p, behind); at >= n || !js[bool](p, `window.same === true`) {
			t.Errorf("the page has %d of %d messages behind it, or was loaded again", at, n)
		}
		p.command(command, "pause", "is it too fast?")
		p.until("the page says that it is paused", shows("paused"))
		p.looksAt(w, "operation")
		p.command(command, "resume", "it is not")
		p.until("half of them are behind it", fmt.Sprintf(behind+` >= %d`, n/2))
		p.command(command, "cancel", "the partner is down again")
		p.until("the page says that it is cancelled", shows("cancelled"))
		isHalfWay(p, w, n)
	})
}

// fillBulk publishes messages that the partner refuses, and has it take them from then on.
func fillBulk(p *tab, w *world, n int) {
	p.t.Helper()
	w.partner.refuse(inBulk, true)
	all := make([]message, n)
	for i := range all {
		all[i] = message{Topic: "orders", Key: fmt.Sprintf("bulk-%d", i), Type: inBulk, Payload: i}
	}
	p.must(w.publish(inBulk, all...))
	p.open(inBox(inBulk, "/errors"))
	p.must(await("all of them are dead", func() bool { return p.matching(inBulk) == n }))
	w.partner.refuse(inBulk, false)
}

// isHalfWay checks that about half of the messages have the command of a cancelled operation and are delivered, that the others are as they
// were, and that the audit log has each command.
func isHalfWay(p *tab, w *world, n int) {
	p.t.Helper()
	p.picture(artefacts(w.name + "/cancelled"))
	given := js[int](p, behind)
	if given < n/2 || given >= n {
		p.t.Errorf("the cancelled operation has %d of %d messages behind it", given, n)
	}
	if len(js[[]string](p, buttons)) > 0 {
		p.t.Error("a cancelled operation still has buttons")
	}
	err := await("the relay has delivered what was given", func() bool { return w.partner.gotOf("bulk-") == given })
	for had := 0; err != nil && w.partner.gotOf("bulk-") > had; { // it goes on, on a busy machine
		had = w.partner.gotOf("bulk-")
		err = await("the relay has delivered what was given", func() bool { return w.partner.gotOf("bulk-") == given })
	}
	if err != nil {
		p.t.Errorf("%v: the partner has %d messages, and %d were given the command", err, w.partner.gotOf("bulk-"), given)
	}
	if dead := p.matching(inBulk); dead != n-given {
		p.t.Errorf("%d messages are dead, want %d", dead, n-given)
	}
	for _, why := range []string{"the partner is up again", "the partner is down again"} {
		p.audited(operator, why, "operation", inBulk)
	}
	p.open(inBox(inBulk, "/operations"))
	if text := p.text("main tbody"); !strings.Contains(text, "cancelled") {
		p.t.Errorf("the list of operations says %q", text)
	}
}
