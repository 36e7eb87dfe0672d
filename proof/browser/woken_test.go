package browser

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	library "github.com/postbag/postbag"
	"github.com/postbag/postbag/inbox"
	"github.com/postbag/postbag/relay"
	"github.com/postbag/postbag/store/sqlitestore"
)

// mostClicks is how many clicks the walk takes: to find out why each trouble is there, to fix it, and to go back to the overview.
const mostClicks = 7

// Boxes of the walk, beside orders.
const (
	shipping = "shipping"
	accounts = "accounts"
)

// woken is a shop in which three things are wrong at night. A destination is down. One key is poisoned: the partner refuses a message
// of it. And since a deployment a handler rejects a type of messages.
func woken(warehouse *partner) plan {
	return plan{
		boxes:         []string{orders, shipping, accounts},
		destinations:  fmt.Sprintf("  warehouse: {webhook: {url: %q, secrets_env: [PARTNER_SECRET], allow_private: [127.0.0.0/8]}}\n", warehouse.server.URL),
		subscriptions: "  - {box: shipping, to: warehouse}\n",
		fill: func(w *world) error {
			for _, err := range []error{w.publish(orders, poisoned()...), w.publish(shipping, parcels()...), w.publish(accounts, entries()...)} {
				if err != nil {
					return err
				}
			}
			return w.comes(orders, "email", "blocked", 4)
		},
	}
}

func poisoned() (all []message) {
	for i := range 20 {
		one := message{Topic: "orders", Key: fmt.Sprintf("customer-%02d", i%5), Type: "order.paid", Payload: map[string]any{"order": 7000 + i}}
		if i == 0 {
			one.Type = "order.cancelled"
		}
		if i%5 == 0 {
			one.Key = "customer-17"
		}
		all = append(all, one)
	}
	return append(all, message{Topic: "orders", Key: "customer-17", Type: "order.paid", Payload: "the last"})
}

func parcels() (all []message) {
	for i := range 6 {
		all = append(all, message{Topic: "parcels", Key: fmt.Sprintf("parcel-%d", i), Type: "parcel.packed", Payload: i})
	}
	return all
}

func entries() (all []message) {
	for i := range 12 {
		all = append(all, message{Topic: "entries", Key: fmt.Sprintf("entry-%d", i), Type: []string{"entry.made", "entry.refunded", "entry.closed"}[i%3], Payload: i})
	}
	return all
}

// ledger is the handler of another program, in a version that rejects refunds, until it is rolled back.
type ledger struct {
	rejects atomic.Bool
	applied atomic.Int64
}

func (l *ledger) handle(_ context.Context, _ library.SQLTx, m *inbox.Message) error {
	if l.rejects.Load() && m.Type == "entry.refunded" {
		return fmt.Errorf("%w: the field vat is missing", inbox.ErrRejected)
	}
	l.applied.Add(1)
	return nil
}

// works has a relay in the test work the box of the ledger until the test ends.
func (l *ledger) works(t *testing.T, w *world) {
	t.Helper()
	s, err := sqlitestore.Open(t.Context(), filepath.Join(w.folder, "shop.db"), sqlitestore.Options{})
	if err != nil {
		t.Fatal(err)
	}
	to, err := inbox.NewDestination(inbox.DestinationOptions[library.SQLTx]{Store: s, Consumer: "ledger", Handle: l.handle})
	if err != nil {
		t.Fatal(err)
	}
	r, err := relay.New(s, relay.Options{Name: "ledger-1", Logger: slog.New(slog.DiscardHandler), Subscriptions: []relay.Subscription{{Box: accounts, Name: "ledger", To: to, Concurrency: 1}}})
	if err != nil {
		t.Fatal(err)
	}
	ctx, end := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- r.Run(ctx) }()
	t.Cleanup(func() {
		end()
		if err := errors.Join(<-ended, to.Close(context.Background()), s.Close()); err != nil {
			t.Error(err)
		}
	})
}

// trouble is the text of what is wrong with a box, on the overview.
func (p *tab) trouble(box string) string {
	return p.text(`article[aria-label="Box ` + box + `"] .troubles`)
}

// says checks a text of the page for all words that lead to the cause.
func (p *tab) says(what, text string, words ...string) {
	p.t.Helper()
	for _, word := range words {
		if !strings.Contains(text, word) {
			p.t.Errorf("%s does not say %q: %q", what, word, text)
		}
	}
}

func TestAnOperatorWhoIsWokenFindsAndFixesThreeTroublesFromThePagesAlone(t *testing.T) {
	t.Parallel()
	needBrowser(t)
	warehouse, books := newPartner(), &ledger{}
	warehouse.goes(true)
	books.rejects.Store(true)
	atTheEnd(warehouse.close)
	w, err := newWorld("woken", postbag(t), inFile, woken(warehouse))
	if err != nil {
		t.Fatal(err)
	}
	books.works(t, w)
	p := newTab(t, w.console, operator)
	p.open("/")
	for _, box := range []string{orders, shipping, accounts} {
		p.until("the overview says that "+box+" needs a look", fmt.Sprintf(`document.querySelector('article[aria-label="Box %s"] .troubles')`, box))
	}
	p.picture(artefacts(w.name + "/overview"))
	seesThatADestinationIsDown(p)
	warehouse.goes(false) // by the people whose warehouse it is
	discardsWhatPoisonsAKey(p)
	retriesWhatAHandlerRejected(p, books)
	p.leads(func() { p.click(".home") })
	p.until("the overview says that all is well", `document.title.startsWith("All is well")`)
	for what, is := range map[string]func() bool{
		"the warehouse has all parcels": func() bool { return warehouse.gotOf("parcel-") == 6 },
		"the books have all entries":    func() bool { return books.applied.Load() == 12 },
		"the poisoned key goes on":      func() bool { return w.partner.got("customer-17") == 4 },
		"no other customer has waited":  func() bool { return w.partner.gotOf("customer-0") == 16 },
	} {
		p.must(await(what, is))
	}
	t.Logf("the three troubles took %d clicks", p.clicks)
	if p.clicks > mostClicks {
		t.Errorf("three troubles take %d clicks, and took %d", p.clicks, mostClicks)
	}
}

// seesThatADestinationIsDown takes no click: the overview says what is away, since when, and what will be.
func seesThatADestinationIsDown(p *tab) {
	p.t.Helper()
	p.says("the trouble of the destination", p.trouble(shipping), "the destination of shipping/default takes no messages", "answered 503", "it is tried again")
}

// discardsWhatPoisonsAKey takes four clicks: to the errors, to the message, the button, and back.
func discardsWhatPoisonsAKey(p *tab) {
	p.t.Helper()
	p.says("the trouble of the key", p.trouble(orders), "1 message of orders/email is dead, and 4 wait behind one of their key")
	p.leads(func() { p.click(`main .troubles a[href*="/orders/errors"]`) })
	p.says("the page of errors", p.text("main tbody"), "422 Unprocessable Entity", "It has type order.cancelled, key customer-17")
	p.leads(func() { p.click("main tbody td.text a") })
	p.command(command, "discard", "the order is cancelled by hand")
	p.leads(func() { p.click(".home") })
	p.until("the box is good again", `!document.querySelector('article[aria-label="Box `+orders+`"] .troubles')`)
}

// retriesWhatAHandlerRejected takes two clicks: to the errors, and the button.
func retriesWhatAHandlerRejected(p *tab, books *ledger) {
	p.t.Helper()
	p.says("the trouble of the handler", p.trouble(accounts), "4 messages of accounts/ledger are dead")
	p.leads(func() { p.click(`main .troubles a[href*="/accounts/errors"]`) })
	p.says("the page of errors", p.text("main tbody"), "the field vat is missing", "All have type entry.refunded, topic entries")
	books.rejects.Store(false) // the deployment is rolled back
	p.command("main tbody form", "retry", "the ledger is rolled back")
}
