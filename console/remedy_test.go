package console_test

import (
	"context"
	"fmt"
	"html"
	"strings"
	"testing"

	"github.com/postbag/postbag"
	"github.com/postbag/postbag/console"
	"github.com/postbag/postbag/internal/boxtest"
	"github.com/postbag/postbag/store"
	"github.com/postbag/postbag/store/memstore"
)

// Somebody who reads what is wrong finds beside it what to paste, and where to look.
func TestATroubleHasItsCommandAndItsPage(t *testing.T) {
	t.Parallel()
	at := serve(t, console.Options{}, box(t), alike(t))
	_, body := get(t, at+"/")
	page := html.UnescapeString(body)
	for _, want := range []string{
		">postbag messages list -c postbag.yaml --store-name shop2 --box outbox --subscription default --state dead<",
		`are dead <a href="./databases/shop2/boxes/outbox/errors?subscription=default">Errors of default</a>`,
		">postbag subscriptions resume -c postbag.yaml --store-name shop --box outbox --subscription default --why <",
	} {
		if !strings.Contains(page, want) {
			t.Errorf("the overview lacks %s:\n%s", want, page)
		}
	}
	_, body = get(t, serve(t, console.Options{}, alike(t))+boxPage)
	if want := ">postbag messages list -c postbag.yaml --box outbox --subscription default --state dead<"; !strings.Contains(html.UnescapeString(body), want) {
		t.Errorf("the page of the box lacks %s:\n%s", want, body)
	}
}

// The message that a key waits behind may be the 501st of its state.
func TestAMessageThatWasNotReadIsFoundByALink(t *testing.T) {
	t.Parallel()
	m := memstore.New(memstore.Options{})
	d := boxtest.New(t, created(t, m))
	msgs := make([]postbag.Message, 502)
	for i := range msgs {
		msgs[i] = postbag.Message{ID: postbag.NewID(), Topic: "t", Key: fmt.Sprint("key ", min(i, 500))}
	}
	d.Must(m.InTx(t.Context(), func(ctx context.Context, tx *memstore.Tx) error { return m.Append(ctx, tx, "outbox", msgs) }))
	records := d.Read()
	parks := make([]store.Park, len(records))
	for i, r := range records {
		parks[i] = store.Park{Seq: r.Seq, Slot: r.Slot, Hash: r.Hash, State: store.ParkRetrying, Blocking: true, Attempts: 1, Reason: "refused"}
	}
	parks[501].State, parks[501].Reason = store.ParkBlocked, ""
	d.Settle(&d.Lease, store.Settlement{To: d.At, Park: parks, Tally: boxtest.Tally(store.TallyParked, records...)})
	at := serve(t, console.Options{}, m)
	if keys := into[console.Keys](t, at+"/api/v1"+boxPage+"/keys").Keys; len(keys) != 1 || keys[0].Behind != nil {
		t.Fatalf("the keys are %+v", keys)
	}
	found := idsOn(t, linked(t, at+boxPage+"/keys", "retrying"))
	if len(found) != 1 || found[0] != msgs[500].ID.String() {
		t.Errorf("the link leads to the messages %v, not to %s", found, msgs[500].ID)
	}
}

func TestAGroupOfErrorsSaysWhatItsMessagesHaveInCommon(t *testing.T) {
	t.Parallel()
	m := created(t, memstore.New(memstore.Options{}))
	d := boxtest.New(t, m)
	var msgs []postbag.Message
	for i, key := range []string{"a", "b", "c", "<b>"} {
		msgs = append(msgs, postbag.Message{ID: postbag.NewID(), Topic: "orders", Key: key, Type: []string{"order.refunded", "order.paid"}[i/3]})
	}
	d.Must(m.InTx(t.Context(), func(ctx context.Context, tx *memstore.Tx) error { return m.Append(ctx, tx, boxtest.Outbox.Box, msgs) }))
	records := d.Read()
	parks := make([]store.Park, len(records))
	for i, r := range records {
		parks[i] = store.Park{Seq: r.Seq, Slot: r.Slot, State: store.ParkDead, Attempts: 1, Reason: []string{"no such field", "no such address"}[i/3]}
	}
	d.Settle(&d.Lease, store.Settlement{To: d.At, Park: parks, Tally: boxtest.Tally(store.TallyParked, records...)})
	at := serve(t, console.Options{Commands: true, Who: "ann"}, m)
	_, page := get(t, at+boxPage+"/errors")
	for _, want := range []string{"All have type order.refunded, topic orders<", "It has type order.paid, key &lt;b&gt;, topic orders<"} {
		if !strings.Contains(page, want) {
			t.Errorf("the page does not say %q:\n%s", want, page)
		}
	}
	if strings.Contains(page, "<details open") {
		t.Error("a page of two groups has one of them open")
	}
}
