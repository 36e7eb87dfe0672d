package tested_test

import (
	"context"
	"database/sql"
	"errors"
	"log/slog"
	"path/filepath"
	"testing"
	"time"

	"github.com/postbag/postbag"
	"github.com/postbag/postbag/broker"
	"github.com/postbag/postbag/broker/membroker"
	"github.com/postbag/postbag/examples/internal/shop"
	"github.com/postbag/postbag/examples/tested"
	"github.com/postbag/postbag/postbagtest"
	"github.com/postbag/postbag/relay"
	"github.com/postbag/postbag/store"
	"github.com/postbag/postbag/store/memstore"
	"github.com/postbag/postbag/store/sqlitestore"
)

// What does it publish? No database, no relay.
func TestCheckoutPublishesTheOrder(t *testing.T) {
	t.Parallel()
	var rec postbagtest.Recorder[postbagtest.Tx]
	out := rec.Sender(t, postbag.PublisherOptions{})
	o := shop.Order{Customer: "customer-7", Cents: 4200}
	if err := tested.Checkout(t.Context(), out, o); err != nil {
		t.Fatal(err)
	}
	if err := tested.Checkout(t.Context(), out, shop.Order{Customer: "customer-8"}); err == nil {
		t.Error("an order of nothing was taken")
	}
	rec.RequirePublished(t, postbagtest.Event(shop.Placed, o))
}

// drain delivers what is in the box, until nothing is left that can be delivered
// now.
func drain(t *testing.T, s store.Store, to relay.Subscription) {
	t.Helper()
	r, err := relay.New(s, relay.Options{Subscriptions: []relay.Subscription{to}, Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	if err := r.Drain(ctx); err != nil {
		t.Fatal(err)
	}
}

// What arrives, and in which order, when the destination refuses something? The
// relay is the real one; store and broker are in memory.
func TestARefusedMessageDelaysOnlyItsCustomersMessages(t *testing.T) {
	t.Parallel()
	s := memstore.New(memstore.Options{})
	if err := s.CreateBox(t.Context(), "outbox"); err != nil {
		t.Fatal(err)
	}
	pub, err := postbag.NewPublisher(s, postbag.PublisherOptions{})
	if err != nil {
		t.Fatal(err)
	}
	err = pub.InTx(t.Context(), func(ctx context.Context, tx *memstore.Tx) error {
		var errs []error
		for cents, customer := range []string{"a", "b", "a", "b"} {
			errs = append(errs, tested.Checkout(ctx, pub.Bind(tx), shop.Order{Customer: customer, Cents: cents + 1}))
		}
		return errors.Join(errs...)
	})
	if err != nil {
		t.Fatal(err)
	}
	to := membroker.New(membroker.Options{Decide: func(m broker.Delivery, _ int) membroker.Act {
		if m.Key == "a" {
			return membroker.Fail(broker.Rejected, "not today")
		}
		return membroker.Act{}
	}})
	drain(t, s, relay.Subscription{To: to})
	if got := to.OfKey("b"); len(got) != 2 || to.Len() != 2 || to.Inversions() != 0 {
		t.Errorf("%d messages arrived, %d of them of customer b", to.Len(), len(got))
	}
}

// Is the message in the transaction? A real database, in a file of its own.
func TestAnOrderThatIsRolledBackPublishesNothing(t *testing.T) {
	t.Parallel()
	s, err := sqlitestore.Open(t.Context(), filepath.Join(t.TempDir(), "shop.db"), sqlitestore.Options{Create: true})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = s.Close() }()
	pub, err := postbag.NewPublisher(s.SQL(), postbag.PublisherOptions{})
	if err != nil {
		t.Fatal(err)
	}
	soldOut := errors.New("sold out")
	for _, end := range []error{nil, soldOut} {
		err := pub.InTx(t.Context(), func(ctx context.Context, tx *sql.Tx) error {
			if err := tested.Checkout(ctx, pub.Bind(tx), shop.Order{Customer: "customer-7", Cents: 1}); err != nil {
				return err
			}
			return end
		})
		if !errors.Is(err, end) {
			t.Fatal(err)
		}
	}
	to := membroker.New(membroker.Options{})
	drain(t, s, relay.Subscription{To: to})
	if to.Len() != 1 {
		t.Errorf("%d messages arrived, want the one that was committed", to.Len())
	}
}
