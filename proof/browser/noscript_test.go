package browser

import (
	"strings"
	"testing"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"
)

func TestEveryPageCanBeReadAndUsedWithoutJavaScript(t *testing.T) {
	t.Parallel()
	w := needWorld(t, "sqlite")
	p := newTab(t, w.console, admin)
	_, err := chromedp.Call(p.ctx, emulation.SetScriptExecutionDisabled, emulation.SetScriptExecutionDisabledParams{Value: true})
	p.must(err)
	p.excuse("/nowhere")
	pages := pagesOf(t, walk(p))
	times := 0
	for name, at := range pages {
		p.open(at)
		for _, time := range js[[]string](p, `[...document.querySelectorAll("time")].map((e) => e.textContent)`) {
			times++
			if !strings.HasSuffix(time, " UTC") {
				t.Errorf("%s has the time %q, without its zone", name, time)
			}
		}
		if text := p.text("body"); strings.Contains(text, "Press ? for the keys") || p.text("h1") == "" {
			t.Errorf("%s runs a script, or is empty: %q", name, text)
		}
		p.picture(artefacts("without-javascript/" + name))
	}
	if times < 50 {
		t.Errorf("the pages have only %d times", times)
	}

	p.open(inBox(orders, "/messages"))
	p.click("summary")
	p.do("fill in a filter", chromedp.SendKeys(chromedp.CSS("form[role=search] input[name=type]"), "order.cancelled"))
	p.click("form[role=search] button")
	p.until("the filters are in the address", `location.search.includes("type=order.cancelled")`)
	if types := js[[]string](p, `[...document.querySelectorAll("main tbody tr")].map((r) => r.innerText)`); len(types) != 9 {
		t.Errorf("three messages for three subscriptions are %q", types)
	}

	p.open(inBox(orders, "/subscriptions/email"))
	for _, do := range []string{"pause", "resume"} {
		p.do("say why", chromedp.SendKeys(chromedp.CSS(command+" input[name=why]"), do+" without a script"))
		p.click(command + " button[value=" + do + "]")
		p.until("the page has the other button", `!document.querySelector("`+command+` button[value=`+do+`]")`)
		p.audited(admin, do+" without a script", do)
		p.open(inBox(orders, "/subscriptions/email"))
	}
}
