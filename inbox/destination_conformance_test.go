package inbox_test

import (
	"context"
	"errors"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/postbag/postbag"
	"github.com/postbag/postbag/broker"
	"github.com/postbag/postbag/inbox"
	"github.com/postbag/postbag/internal/effectstest"
	"github.com/postbag/postbag/store"
	"github.com/postbag/postbag/store/memstore"
)

// shelf is a database whose handler keeps what it gets. Its effect is a message in the box "effects" that names what it got: that
// is there if the transaction committed.
type shelf struct {
	testing.TB
	*inbox.Destination[*memstore.Tx]

	store       *memstore.Store
	down, mute  atomic.Bool
	brokenTopic atomic.Value
	onMute      func() // called when an answer is lost

	mu   sync.Mutex
	seen []inbox.Message
}

var errAway = errors.New("the database is away")

func newShelf(tb testing.TB, change ...func(*inbox.DestinationOptions[*memstore.Tx])) *shelf {
	tb.Helper()
	w := &shelf{TB: tb}
	w.brokenTopic.Store("")
	w.store = memstore.New(memstore.Options{Fault: func(_ context.Context, op memstore.Op) memstore.Fault {
		switch {
		case op == memstore.OpInspect, op == memstore.OpCreateBox:
			return memstore.Fault{}
		case w.down.Load():
			return memstore.Fault{Err: errAway}
		case w.mute.Load() && op == memstore.OpCommit:
			if w.onMute != nil {
				w.onMute()
			}
			return memstore.Fault{Err: errAway, Acted: true}
		}
		return memstore.Fault{}
	}})
	if err := w.store.CreateBox(tb.Context(), "effects"); err != nil {
		tb.Fatal(err)
	}
	if err := w.store.Declare(tb.Context(), []store.Spec{{Ref: store.Ref{Box: "effects", Subscription: "reader"}, Shards: 1}}); err != nil {
		tb.Fatal(err)
	}
	o := inbox.DestinationOptions[*memstore.Tx]{Store: w.store, Consumer: "billing", Handle: w.keep}
	for _, c := range change {
		c(&o)
	}
	var err error
	if w.Destination, err = inbox.NewDestination(o); err != nil {
		tb.Fatal(err)
	}
	return w
}

// keep is the handler.
func (w *shelf) keep(ctx context.Context, tx *memstore.Tx, m *inbox.Message) error {
	if m.Topic == w.brokenTopic.Load() {
		return &broker.Error{Outcome: broker.Unavailable, Scope: broker.ScopeTopic, Err: errors.New("the warehouse is closed")}
	}
	w.mu.Lock()
	w.seen = append(w.seen, *m)
	number := strconv.Itoa(len(w.seen) - 1)
	w.mu.Unlock()
	effect := postbag.Message{ID: postbag.NewID(), Topic: "effects", Payload: []byte(number)}
	return w.store.Append(ctx, tx, "effects", []postbag.Message{effect})
}

// kept returns what was committed, in the sequence of the commits of each key.
func (w *shelf) kept() (all []inbox.Message) {
	w.Helper()
	q := store.Query{Ref: store.Ref{Box: "effects"}, Oldest: true, Limit: 1000}
	for {
		items, next, err := w.store.List(context.Background(), q)
		if err != nil {
			w.Fatal(err)
		}
		w.mu.Lock()
		for _, it := range items {
			number, err := strconv.Atoi(string(it.Payload))
			if err != nil {
				w.Fatal(err)
			}
			all = append(all, w.seen[number])
		}
		w.mu.Unlock()
		if next == "" {
			return all
		}
		q.Cursor = next
	}
}

func TestAHandlerConformsAsADestination(t *testing.T) {
	t.Parallel()
	effectstest.RunSingle(t, "in memory", func(*testing.T) effectstest.Store[*memstore.Tx] { return memstore.New(memstore.Options{}) })
}
