package browser

import (
	"fmt"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
)

// inBox is the address of a page of a box.
func inBox(box, page string) string { return "/databases/shop/boxes/" + box + page }

// first opens a list of messages, and follows the link of its first row.
func (p *tab) first(list string) {
	p.t.Helper()
	p.open(list)
	p.leads(func() { p.click("main tbody th a") })
}

// command fills in why, and presses the real button of a form.
func (p *tab) command(form, do, why string) {
	p.t.Helper()
	p.do("say why", chromedp.SendKeys(chromedp.CSS(form+" input[name=why]"), why))
	p.leads(func() { p.click(form + " button[value=" + do + "]") })
	if p.text("main .bad") != "" && p.status != 200 {
		p.t.Fatalf("%s answers %d: %q", do, p.status, p.text("main"))
	}
}

// audited checks that the audit log has a command with its reason and its giver.
func (p *tab) audited(who, why string, words ...string) {
	p.t.Helper()
	p.open("/databases/shop/audit")
	line := js[string](p, fmt.Sprintf(`[...document.querySelectorAll("main tbody tr")].map((r) => r.innerText).find((r) => r.includes(%q)) ?? ""`, why))
	for _, word := range append(words, who) {
		if !strings.Contains(line, word) {
			p.t.Errorf("of %q the audit log has %q, without %q", why, line, word)
		}
	}
}

// reload loads the page again until a condition holds.
func (p *tab) reload(what, expression string) {
	p.t.Helper()
	at := p.where()
	err := await(what, func() bool {
		p.open(at)
		return js[bool](p, `!!(`+expression+`)`)
	})
	if err != nil {
		p.t.Fatalf("%v; the page %s is %q", err, at, p.text("main"))
	}
}

// shows says in JavaScript that a state is shown.
func shows(state string) string { return `document.querySelector("main .state.` + state + `")` }

const refused = "order.refused"

// deadInWork publishes messages that the partner refuses, and returns when they are dead.
func deadInWork(t *testing.T, w *world, keys ...string) {
	t.Helper()
	w.partner.refuse(refused, true)
	all := make([]message, len(keys))
	for i, key := range keys {
		all[i] = message{Topic: "orders", Key: key, Type: refused, Payload: key}
	}
	if err := w.publish(work, all...); err != nil {
		t.Fatal(err)
	}
	if err := w.comes(work, "default", "dead", len(keys)); err != nil {
		t.Fatal(err)
	}
}

const (
	command = "main form.command"
	dead    = "/messages?state=dead"
)

func TestOperatorsActWithTheButtonsOfThePages(t *testing.T) {
	t.Parallel()
	onEachStore(t, func(t *testing.T, w *world) {
		p := newTab(t, w.console, operator)
		retriesOne(p, w)
		discardsOne(p, w)
		retriesAndDiscardsAKind(p, w)
		changesScheduled(p, w)
		pausesAndResumes(p)
		retriesAllThatMatch(p, w)
		retriesAsAnOperation(p, w)
		editsOne(newTab(t, w.console, admin), w)
		setsAndResets(p)
		skipsWhatWaits(p, w)
		changesShards(p)
	})
}

func retriesAllThatMatch(p *tab, w *world) {
	p.t.Helper()
	deadInWork(p.t, w, "match-1", "match-2")
	w.partner.refuse(refused, false)
	p.open(inBox(work, dead+"&subscription=default"))
	p.leads(func() { p.click("main a[href*='count=true']") })
	p.command(command, "retry", "all of them are good")
	p.reload("none is dead", `!document.querySelector("main .state.dead")`)
	err := await("the partner has all that match", func() bool { return w.partner.got("match-1")+w.partner.got("match-2") == 2 })
	p.must(err)
	p.audited(operator, "all of them are good", "retry", work)
}

func retriesAsAnOperation(p *tab, w *world) {
	p.t.Helper()
	deadInWork(p.t, w, "operation-1", "operation-2")
	w.partner.refuse(refused, false)
	p.open(inBox(work, "/operations/preview?state=dead&subscription=default"))
	p.do("type how many", chromedp.SendKeys(chromedp.CSS(command+" input[name=confirm]"), "2"))
	p.command(command, "retry", "as an operation")
	p.until("the page says that it is done", shows("done"))
	err := await("the partner has both", func() bool { return w.partner.got("operation-1")+w.partner.got("operation-2") == 2 })
	p.must(err)
	p.audited(operator, "as an operation", "operation", work)
}

func editsOne(p *tab, w *world) {
	p.t.Helper()
	p.must(w.publish(work, message{Topic: "orders", Key: "edited", Type: "order.paid", Payload: map[string]any{"total": 1}}))
	p.first(inBox(work, "/messages?key=edited"))
	first := p.where()
	p.open(first + "?payload=true")
	p.do("edit the payload", chromedp.SetValue(chromedp.CSS("form.edit textarea[name=payload]"), `{"total": 2}`), chromedp.SendKeys(chromedp.CSS("form.edit input[name=why]"), "the total was wrong"))
	p.leads(func() { p.click("form.edit button") })
	if p.where() == first {
		p.t.Error("after the edit the page is that of the old message")
	}
	p.open(p.where() + "?payload=true")
	if shown := js[string](p, `document.querySelector("form.edit textarea[name=payload]").value`); shown != `{"total": 2}` {
		p.t.Errorf("the new message has the payload %s", shown)
	}
	p.must(await("the partner has both", func() bool { return w.partner.got("edited") == 2 }))
	p.audited(admin, "the total was wrong", work)
}

func retriesOne(p *tab, w *world) {
	p.t.Helper()
	deadInWork(p.t, w, "once")
	w.partner.refuse(refused, false)
	p.first(inBox(work, dead))
	p.command(command, "retry", "the partner is up")
	p.reload("the message is delivered", shows("delivered"))
	if n := w.partner.got("once"); n != 1 {
		p.t.Errorf("the partner got it %d times", n)
	}
	if js[bool](p, `!!document.querySelector("`+command+`")`) {
		p.t.Error("a delivered message still has buttons")
	}
	p.audited(operator, "the partner is up", "retry", work)
}

func discardsOne(p *tab, w *world) {
	p.t.Helper()
	deadInWork(p.t, w, "never")
	w.partner.refuse(refused, false)
	p.first(inBox(work, dead))
	p.command(command, "discard", "the order was a test")
	p.reload("the message is discarded", shows("discarded"))
	if n := w.partner.got("never"); n != 0 {
		p.t.Errorf("the partner got a discarded message %d times", n)
	}
	p.audited(operator, "the order was a test", "discard", work)
}

func retriesAndDiscardsAKind(p *tab, w *world) {
	p.t.Helper()
	for do, keys := range map[string][]string{"retry": {"kind-1", "kind-2", "kind-3"}, "discard": {"kind-4", "kind-5"}} {
		deadInWork(p.t, w, keys...)
		w.partner.refuse(refused, false)
		p.open(inBox(work, "/errors")) // with one kind of error, whose commands are open
		p.command("main tbody form", do, "a kind to "+do)
		p.reload("no message has an error", `document.querySelector("main .good") && !document.querySelector("main table")`)
		for _, key := range keys {
			if n, want := w.partner.got(key), map[string]int{"retry": 1}[do]; n != want {
				p.t.Errorf("after %s of the kind the partner has %s %d times, want %d", do, key, n, want)
			}
		}
		p.audited(operator, "a kind to "+do, do, fmt.Sprint(len(keys)))
	}
}

func changesScheduled(p *tab, w *world) {
	p.t.Helper()
	later := time.Now().Add(48 * time.Hour)
	for _, key := range []string{"now", "cancelled"} {
		if err := w.publish(work, message{Topic: "orders", Key: key, Type: "order.reminder", NotBefore: &later, Payload: key}); err != nil {
			p.t.Fatal(err)
		}
	}
	scheduled := inBox(work, "/messages?"+url.Values{"state": {"scheduled"}}.Encode())
	p.first(scheduled + "&key=now")
	p.command(command, "retry", "the customer waits")
	p.reload("the message is delivered", shows("delivered"))
	p.audited(operator, "the customer waits", work)
	p.first(scheduled + "&key=cancelled")
	p.command(command, "discard", "the customer has gone")
	p.open(scheduled)
	if text := p.text("main"); strings.Contains(text, "order.reminder") {
		p.t.Errorf("a cancelled message is still scheduled: %q", text)
	}
	p.audited(operator, "the customer has gone", work)
	if now, cancelled := w.partner.got("now"), w.partner.got("cancelled"); now != 1 || cancelled != 0 {
		p.t.Errorf("the partner has the one published now %d times, and the cancelled one %d times", now, cancelled)
	}
}

func pausesAndResumes(p *tab) {
	p.t.Helper()
	at := inBox(work, "/subscriptions/default")
	p.open(at)
	p.do("say how long", chromedp.SendKeys(chromedp.CSS(command+" input[name=for]"), "2h"))
	p.command(command, "pause", "the partner moves")
	if p.where() != at {
		p.t.Errorf("after a pause the page is %s", p.where())
	}
	p.until("the page says that it is paused", `document.querySelector("main .troubles")?.innerText.includes("the partner moves")`)
	p.audited(operator, "the partner moves", "pause", work)
	p.open(at)
	p.command(command, "resume", "the partner has moved")
	p.until("the page has the button to pause again", `document.querySelector("`+command+` button[value=pause]") && !document.querySelector("main .troubles")`)
	p.audited(operator, "the partner has moved", "resume", work)
}

func setsAndResets(p *tab) {
	p.t.Helper()
	at := inBox(work, "/subscriptions/default")
	batch := `[...document.querySelectorAll("main tbody tr")].find((r) => r.querySelector("th")?.innerText === "batch")?.innerText ?? ""`
	for _, do := range []string{"set", "reset"} {
		p.open(at)
		p.click("#tune summary")
		p.do("choose a setting", chromedp.SetValue(chromedp.CSS("#tune select[name=setting]"), "batch"))
		if do == "set" {
			p.do("say its value", chromedp.SendKeys(chromedp.CSS("#tune input[name=value]"), "37"))
		}
		p.command("#tune form", do, "a batch to "+do)
		if text := js[string](p, batch); strings.Contains(text, "37") != (do == "set") {
			p.t.Errorf("after %s the page says %q", do, text)
		}
		p.audited(operator, "a batch to "+do, work)
	}
}

func skipsWhatWaits(p *tab, w *world) {
	p.t.Helper()
	at := inBox(work, "/subscriptions/default")
	p.open(at)
	p.command(command, "pause", "before what waits is skipped")
	p.must(w.publish(work, message{Topic: "orders", Key: "skipped-1", Type: "order.paid", Payload: 1}, message{Topic: "orders", Key: "skipped-2", Type: "order.paid", Payload: 2}))
	p.open(at)
	p.click("#skip summary")
	p.do("choose a state", chromedp.SetValue(chromedp.CSS("#skip select[name=state]"), "pending"))
	p.leads(func() { p.click("#skip button") })
	p.do("say that both are meant", chromedp.SendKeys(chromedp.CSS(command+" input[name=confirm]"), "2"))
	p.command(command, "discard", "nobody needs them")
	p.until("the page says that it is done", shows("done"))
	p.audited(operator, "nobody needs them", "operation", work)
	p.open(at)
	p.command(command, "resume", "after what waits is skipped")
	p.open(inBox(work, "/messages?state=discarded&key=skipped-2"))
	p.reload("both are discarded", shows("discarded"))
	if n := w.partner.gotOf("skipped-"); n != 0 {
		p.t.Errorf("the partner got %d messages that were skipped", n)
	}
}

func changesShards(p *tab) {
	p.t.Helper()
	at := inBox(work, "/subscriptions/default")
	p.open(at)
	p.click("#shards summary")
	p.do("say how many", chromedp.SendKeys(chromedp.CSS("#shards input[name=shards]"), "2"))
	p.command("#shards form", "shards", "there is more to do")
	p.reload("the page has two shards", `document.querySelectorAll('[aria-label="Shards"] tbody tr').length === 2`)
	p.audited(operator, "there is more to do", work)
}
