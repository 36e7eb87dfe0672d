package inbox_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/postbag/postbag"
	"github.com/postbag/postbag/inbox"
	"github.com/postbag/postbag/source"
	"github.com/postbag/postbag/source/memsource"
	"github.com/postbag/postbag/store"
	"github.com/postbag/postbag/store/memstore"
)

func TestRunEndsAtItsStartIfTheStoreHasNoSuchBox(t *testing.T) {
	t.Parallel()
	w := consume(t, memsource.Options{Order: source.OrderStream}, memstore.Options{}, options(func(o *consumerOptions) { o.Box = "nowhere" }))
	w.publish(of("a", "1"))
	err := <-w.ended
	for _, part := range []string{`ConsumerOptions.Box`, `"nowhere"`, "postbag migrate up --box"} {
		if !errors.Is(err, postbag.ErrNoBox) || !strings.Contains(err.Error(), part) {
			t.Errorf("Run returned %v, without %q", err, part)
		}
	}
	w.applied()
	if n := w.broker.Unacked("billing"); n != 1 || w.log.count("the store of an inbox fails") != 0 {
		t.Errorf("%d messages are not acknowledged, not one; the log says that the store fails", n)
	}
}

func TestTheLookForTheBoxLeavesNothingInItAndOutlastsAnOutage(t *testing.T) {
	t.Parallel()
	for _, at := range []memstore.Op{memstore.OpBegin, memstore.OpAppend} {
		t.Run(string(at), func(t *testing.T) {
			t.Parallel()
			var calls atomic.Int64
			w := consume(t, memsource.Options{Order: source.OrderStream}, memstore.Options{Fault: func(_ context.Context, op memstore.Op) memstore.Fault {
				if op == at && calls.Add(1) <= 3 {
					return memstore.Fault{Err: errors.New("the database is down")}
				}
				return memstore.Fault{}
			}}, options(func(o *consumerOptions) {
				o.Handle = func(context.Context, *memstore.Tx, *inbox.Message) error { return nil }
			}))
			w.publish(of("a", "1"))
			w.acked()
			// Where only the box refuses, it goes on at once and says so; an outage it waits for.
			fails, perhaps := w.log.count("the store of an inbox fails"), w.log.count("messages can perhaps not be parked")
			if outage := at == memstore.OpBegin; outage && (fails != 1 || perhaps != 0) || !outage && (fails != 0 || perhaps != 1) {
				t.Errorf("the log says %d times that the store fails, and %d times that it cannot park", fails, perhaps)
			}
			if parked := w.in("aside"); len(parked) != 0 {
				t.Errorf("the box has %+v", parked)
			}
			w.end()
		})
	}
}

func TestAMessageWhoseKeyIsNoNumberIsParkedInABoxByNumber(t *testing.T) {
	t.Parallel()
	w := consume(t, memsource.Options{Order: source.OrderStream}, memstore.Options{},
		options(func(o *consumerOptions) { o.Box = makeByNumber(t, o.Store) }),
		handle(func(_ context.Context, m *inbox.Message, _ int) error {
			if strings.HasPrefix(string(m.Payload), "bad") {
				return fmt.Errorf("%w: no such account", inbox.ErrRejected)
			}
			return nil
		}))
	w.publish(of("a", "bad"), of("7", "bad too"), of("a", "good"))
	w.acked()
	w.applied("good")
	parked := w.in("numbers")
	slices.SortFunc(parked, func(a, b store.Item) int { return strings.Compare(a.Key, b.Key) }) // keys go side by side
	if len(parked) != 2 || parked[1].Key != "a" || parked[0].Key != "7" || parked[0].Slot != 7 {
		t.Fatalf("parked are %+v", parked)
	}
	for i := range parked {
		if parked[i].Err != nil || !strings.Contains(failed(parked[i]), "no such account") {
			t.Errorf("message %d was parked for %q, with the fault %v", i, failed(parked[i]), parked[i].Err)
		}
	}
	if n := w.log.count("the store of an inbox fails"); n != 0 {
		t.Errorf("the log says %d times that the store fails", n)
	}
	w.end()
}
