package browser

import (
	"flag"
	"fmt"
	"path/filepath"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"github.com/postbag/postbag/internal/testserver/servertest"
)

var pictures = flag.String("pictures", "", "the folder that the pictures of docs/guides/console.md are written to")

// shop is the world of the pictures: one box needs a look, and one is good.
var shop = plan{
	boxes: []string{orders, "payments"},
	pause: "search",
	subscriptions: `
  - {box: payments, name: ledger, to: events}
  - {box: payments, name: fraud, to: events}
`,
	fill: fillOrders,
}

// trade goes on for some seconds, so that there are rates.
func trade(t *testing.T, w *world, p *tab) {
	t.Helper()
	tick := time.NewTicker(time.Second)
	defer tick.Stop()
	for i := range 12 {
		<-tick.C
		var all []message
		for j := range 5 {
			all = append(all, message{Topic: "payments", Key: fmt.Sprintf("card-%d", 5*i+j), Type: "payment.captured", Payload: map[string]any{"amount": "12.90"}})
		}
		if err := w.publish("payments", all...); err != nil {
			t.Fatal(err)
		}
		p.open("/")
	}
}

func TestThePicturesOfTheGuideAreTaken(t *testing.T) {
	t.Parallel()
	if *pictures == "" {
		t.Skip("skipped: -pictures names no folder for them; make screenshots does")
	}
	needBrowser(t)
	w, err := newWorld("shop", postbag(t), inPostgres, shop)
	servertest.Need(t, err)
	p := newTab(t, w.console, admin)
	trade(t, w, p)
	// open goes to a page on a desk, and take writes its picture: all of it at a desk, and what is in the window on a phone.
	open := func(at string) {
		t.Helper()
		p.do("set the size", chromedp.EmulateViewport(1280, 400))
		p.open(at)
	}
	take := func(name, scheme string, width, height int64) {
		t.Helper()
		p.scheme(scheme)
		p.do("set the size", chromedp.EmulateViewport(width, height))
		if width > height {
			p.do("set the height", chromedp.EmulateViewport(width, js[int64](p, `document.querySelector("footer").getBoundingClientRect().bottom + 16 | 0`)))
		}
		p.shoot(filepath.Join(*pictures, "console-"+name+".png"), false)
	}
	open("/")
	take("overview", "light", 1280, 400)
	open(inBox(orders, "/errors"))
	p.click("main tbody tr:nth-child(2) summary")
	take("errors", "light", 1280, 400)
	open(inBox(orders, "/keys"))
	take("keys", "light", 1280, 400)
	p.first(inBox(orders, "/messages?state=dead&subscription=email"))
	open(p.where() + "?payload=true")
	take("message", "dark", 1280, 400)
	open(inBox(orders, "/subscriptions/email"))
	take("phone", "dark", 390, 844)
}
