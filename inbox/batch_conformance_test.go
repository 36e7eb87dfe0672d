package inbox_test

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"

	"github.com/postbag/postbag/broker"
	"github.com/postbag/postbag/broker/brokertest"
	"github.com/postbag/postbag/inbox"
	"github.com/postbag/postbag/store/memstore"
)

type batchOptions = inbox.BatchDestinationOptions[*memstore.Tx]

// batchShelf is a shelf whose handler gets pages.
type batchShelf struct {
	*shelf

	to *inbox.BatchDestination[*memstore.Tx]
}

func newBatchShelf(tb testing.TB, change ...func(*batchShelf, *batchOptions)) *batchShelf {
	tb.Helper()
	w := &batchShelf{shelf: newShelf(tb)}
	o := batchOptions{Store: w.store, Consumer: "billing", Handle: w.keep}
	for _, c := range change {
		c(w, &o)
	}
	var err error
	if w.to, err = inbox.NewBatchDestination(o); err != nil {
		tb.Fatal(err)
	}
	return w
}

// batched has the handler get whole pages.
func batched(w *batchShelf, o *batchOptions) {
	o.Handle = nil
	o.HandleBatch = func(ctx context.Context, tx *memstore.Tx, all []*inbox.Message) error {
		var errs []error
		for _, m := range all {
			errs = append(errs, w.keep(ctx, tx, m))
		}
		return errors.Join(errs...)
	}
}

func (w *batchShelf) fixture() brokertest.Fixture {
	f := w.shelf.fixture()
	f.Destination = w.to
	return f
}

func conformsInBatches(t *testing.T, on string, change ...func(*batchShelf, *batchOptions)) {
	t.Helper()
	faulty := func(set func(w *batchShelf) *atomic.Bool) func(*testing.T) (brokertest.Fixture, brokertest.Switch) {
		return func(t *testing.T) (brokertest.Fixture, brokertest.Switch) {
			w := newBatchShelf(t, change...)
			return w.fixture(), brokertest.Switch{Off: func() { set(w).Store(true) }, On: func() { set(w).Store(false) }}
		}
	}
	brokertest.Run(t, brokertest.Harness{
		On:     on,
		Open:   func(t *testing.T) brokertest.Fixture { return newBatchShelf(t, change...).fixture() },
		Outage: faulty(func(w *batchShelf) *atomic.Bool { return &w.down }),
		Mute:   faulty(func(w *batchShelf) *atomic.Bool { return &w.mute }),
		Misconfigured: func(t *testing.T) (brokertest.Fixture, brokertest.Switch) {
			w := newBatchShelf(t, change...)
			w.wrong.Store(true)
			return w.fixture(), brokertest.Switch{On: func() { w.wrong.Store(false) }}
		},
		Topics: func(t *testing.T) (brokertest.Fixture, string, brokertest.Switch) {
			w := newBatchShelf(t, change...)
			w.brokenTopic.Store("another")
			return w.fixture(), "another", brokertest.Switch{On: func() { w.brokenTopic.Store("") }}
		},
		Spoil:    func(m *broker.Delivery) { m.Type = refusedType },
		Lacks:    map[brokertest.Part]string{brokertest.PartLimit: "a handler has no limit of sizes"},
		Features: broker.Features{Fences: "mark", Transactions: true},
		Nulls:    true,
	})
}

func TestAHandlerOfPagesConformsAsADestination(t *testing.T) {
	t.Parallel()
	t.Run("message by message", func(t *testing.T) { conformsInBatches(t, "a handler in pages, in memory") })
	t.Run("page by page", func(t *testing.T) { conformsInBatches(t, "a handler of pages, in memory", batched) })
}
