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
	"github.com/postbag/postbag/broker/brokertest"
	"github.com/postbag/postbag/inbox"
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
	wrong       atomic.Bool
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

// refusedType is of messages that the handler refuses.
const refusedType = "refused"

// keep is the handler.
func (w *shelf) keep(ctx context.Context, tx *memstore.Tx, m *inbox.Message) error {
	switch {
	case w.wrong.Load():
		return &broker.Error{Outcome: broker.Misconfigured, Err: errors.New("the address of the warehouse is missing; set it")}
	case m.Topic == w.brokenTopic.Load():
		return &broker.Error{Outcome: broker.Unavailable, Scope: broker.ScopeTopic, Err: errors.New("the warehouse is closed")}
	case m.Type == refusedType:
		return errors.New("the handler knows no such type; teach it, and retry")
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

const conformanceTopic = "conformance"

func (w *shelf) fixture() brokertest.Fixture {
	return brokertest.Fixture{
		Destination: w.Destination, Topic: conformanceTopic,
		Stored: func(*testing.T) (held []brokertest.Received) {
			for _, m := range w.kept() {
				if m.Topic == conformanceTopic {
					held = append(held, brokertest.Received{
						ID: m.ID, Topic: m.Topic, Key: m.Key, Type: m.Type, At: m.From.Time, Headers: m.Headers, Payload: m.Payload,
					})
				}
			}
			return held
		},
		Wired: func(*testing.T) (held []brokertest.Wired) {
			for _, m := range w.kept() {
				held = append(held, brokertest.Wired{Headers: m.Headers, ContentType: m.From.ContentType, Payload: m.Payload, Null: m.From.Null})
			}
			return held
		},
	}
}

func TestAHandlerConformsAsADestination(t *testing.T) {
	t.Parallel()
	faulty := func(set func(w *shelf) *atomic.Bool) func(*testing.T) (brokertest.Fixture, brokertest.Switch) {
		return func(t *testing.T) (brokertest.Fixture, brokertest.Switch) {
			w := newShelf(t)
			return w.fixture(), brokertest.Switch{Off: func() { set(w).Store(true) }, On: func() { set(w).Store(false) }}
		}
	}
	brokertest.Run(t, brokertest.Harness{
		On:     "a handler, in memory",
		Open:   func(t *testing.T) brokertest.Fixture { return newShelf(t).fixture() },
		Outage: faulty(func(w *shelf) *atomic.Bool { return &w.down }),
		Mute:   faulty(func(w *shelf) *atomic.Bool { return &w.mute }),
		Misconfigured: func(t *testing.T) (brokertest.Fixture, brokertest.Switch) {
			w := newShelf(t)
			w.wrong.Store(true)
			return w.fixture(), brokertest.Switch{On: func() { w.wrong.Store(false) }}
		},
		Topics: func(t *testing.T) (brokertest.Fixture, string, brokertest.Switch) {
			w := newShelf(t)
			w.brokenTopic.Store("another")
			return w.fixture(), "another", brokertest.Switch{On: func() { w.brokenTopic.Store("") }}
		},
		Spoil:    func(m *broker.Delivery) { m.Type = refusedType },
		Lacks:    map[brokertest.Part]string{brokertest.PartLimit: "a handler has no limit of sizes"},
		Features: broker.Features{MaxBatch: 1, Fences: "mark", CountsFirst: true},
		Nulls:    true,
	})
}
