package effectstest

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/postbag/postbag"
	"github.com/postbag/postbag/broker"
	"github.com/postbag/postbag/broker/brokertest"
	"github.com/postbag/postbag/inbox"
	"github.com/postbag/postbag/store"
)

// Store is what a store with lanes has. Its boxes take the effects.
type Store[Tx any] interface {
	inbox.Store[Tx]
	store.Lanes[Tx]
	CreateBox(ctx context.Context, box string) error
	Declare(ctx context.Context, specs []store.Spec) error
	List(ctx context.Context, q store.Query) ([]store.Item, string, error)
}

// Run runs the suite for a handler of pages that gets messages one by one. on names the database. open returns a store, which
// may be the same each time.
func Run[Tx any](t *testing.T, on string, open func(t *testing.T) Store[Tx]) {
	t.Helper()
	run(t, "a handler in pages, "+on, open, inPages)
}

// RunWhole is Run for a handler that gets whole pages.
func RunWhole[Tx any](t *testing.T, on string, open func(t *testing.T) Store[Tx]) {
	t.Helper()
	run(t, "a handler of pages, "+on, open, wholePages)
}

// RunSingle is Run for a handler that has a transaction for each message (inbox.Destination).
func RunSingle[Tx any](t *testing.T, on string, open func(t *testing.T) Store[Tx]) {
	t.Helper()
	run(t, "a handler, "+on, open, single)
}

// form says how a handler gets messages.
type form int

const (
	inPages    form = iota // one by one, and a page is a transaction
	wholePages             // page by page
	single                 // one by one, and each in a transaction
)

// features are those of a destination with a handler of a form.
func (f form) features() broker.Features {
	if f == single {
		return broker.Features{MaxBatch: 1, Fences: "mark", CountsFirst: true}
	}
	return broker.Features{Fences: "mark", Transactions: true}
}

func run[Tx any](t *testing.T, on string, open func(t *testing.T) Store[Tx], f form) {
	t.Helper()
	brokertest.Run(t, harness(on, f.features(), func(t *testing.T) *shelf[Tx] {
		t.Helper()
		return newShelf(t, open(t), f)
	}))
}

// harness has faults between destination and store: each database has a test of its own of what becomes of a server that is
// away.
func harness[Tx any](on string, features broker.Features, open func(t *testing.T) *shelf[Tx]) brokertest.Harness {
	faulty := func(of func(w *shelf[Tx]) *atomic.Bool) func(*testing.T) (brokertest.Fixture, brokertest.Switch) {
		return func(t *testing.T) (brokertest.Fixture, brokertest.Switch) {
			w := open(t)
			return w.fixture(), brokertest.Switch{Off: func() { of(w).Store(true) }, On: func() { of(w).Store(false) }}
		}
	}
	return brokertest.Harness{
		On:     on,
		Open:   func(t *testing.T) brokertest.Fixture { return open(t).fixture() },
		Outage: faulty(func(w *shelf[Tx]) *atomic.Bool { return &w.line.down }),
		Mute:   faulty(func(w *shelf[Tx]) *atomic.Bool { return &w.line.mute }),
		Misconfigured: func(t *testing.T) (brokertest.Fixture, brokertest.Switch) {
			w := open(t)
			w.wrong.Store(true)
			return w.fixture(), brokertest.Switch{On: func() { w.wrong.Store(false) }}
		},
		Topics: func(t *testing.T) (brokertest.Fixture, string, brokertest.Switch) {
			w := open(t)
			w.closed.Store(true)
			return w.fixture(), closedTopic, brokertest.Switch{On: func() { w.closed.Store(false) }}
		},
		Spoil:    func(m *broker.Delivery) { m.Type = refusedType },
		Lacks:    map[brokertest.Part]string{brokertest.PartLimit: "a handler has no limit of sizes"},
		Features: features,
		Nulls:    true,
	}
}

const (
	topic       = "conformance"
	closedTopic = "another"
	refusedType = "refused" // of messages that the handler refuses
)

// shelf is a handler that keeps what it gets. Its effect is a message in a box that names what it got: that is there if the
// transaction committed.
type shelf[Tx any] struct {
	tb            testing.TB
	line          *line[Tx]
	to            broker.Destination
	effects       string // the box
	wrong, closed atomic.Bool

	mu   sync.Mutex
	seen []inbox.Message
}

// shelves counts them: those on one store have boxes, marks and lanes of their own.
var shelves atomic.Int64

func newShelf[Tx any](tb testing.TB, s Store[Tx], f form) *shelf[Tx] {
	tb.Helper()
	n := shelves.Add(1)
	w := &shelf[Tx]{tb: tb, line: &line[Tx]{Store: s}, effects: fmt.Sprint("effects", n)}
	w.must(s.CreateBox(tb.Context(), w.effects))
	w.must(s.Declare(tb.Context(), []store.Spec{{Ref: store.Ref{Box: w.effects, Subscription: "reader"}, Shards: 1}}))
	var err error
	w.to, err = w.destination(fmt.Sprint("billing", n), f)
	w.must(err)
	return w
}

// destination returns one whose handler keeps what it gets.
func (w *shelf[Tx]) destination(consumer string, f form) (broker.Destination, error) {
	switch f {
	case single:
		return inbox.NewDestination(inbox.DestinationOptions[Tx]{Store: w.line, Consumer: consumer, Handle: w.keep})
	case wholePages:
		return inbox.NewBatchDestination(inbox.BatchDestinationOptions[Tx]{Store: w.line, Consumer: consumer, HandleBatch: w.keepAll})
	default:
		return inbox.NewBatchDestination(inbox.BatchDestinationOptions[Tx]{Store: w.line, Consumer: consumer, Handle: w.keep})
	}
}

func (w *shelf[Tx]) must(err error) {
	w.tb.Helper()
	if err != nil {
		w.tb.Fatal(err)
	}
}

func (w *shelf[Tx]) keepAll(ctx context.Context, tx Tx, all []*inbox.Message) error {
	for _, m := range all {
		if err := w.keep(ctx, tx, m); err != nil {
			return err
		}
	}
	return nil
}

func (w *shelf[Tx]) keep(ctx context.Context, tx Tx, m *inbox.Message) error {
	switch {
	case w.wrong.Load():
		return &broker.Error{Outcome: broker.Misconfigured, Err: errors.New("the address of the warehouse is missing; set it")}
	case m.Topic == closedTopic && w.closed.Load():
		return &broker.Error{Outcome: broker.Unavailable, Scope: broker.ScopeTopic, Err: errors.New("the warehouse is closed")}
	case m.Type == refusedType:
		return errors.New("the handler knows no such type; teach it, and retry")
	}
	w.mu.Lock()
	w.seen = append(w.seen, *m)
	number := strconv.Itoa(len(w.seen) - 1)
	w.mu.Unlock()
	return w.line.Append(ctx, tx, w.effects, []postbag.Message{{ID: postbag.NewID(), Topic: "effects", Payload: []byte(number)}})
}

// kept returns what was committed, in the sequence of the commits of each key.
func (w *shelf[Tx]) kept() (all []inbox.Message) {
	w.tb.Helper()
	q := store.Query{Ref: store.Ref{Box: w.effects}, Oldest: true, Limit: 1000}
	for {
		items, next, err := w.line.List(context.Background(), q)
		w.must(err)
		for _, it := range items {
			number, err := strconv.Atoi(string(it.Payload))
			w.must(err)
			w.mu.Lock()
			all = append(all, w.seen[number])
			w.mu.Unlock()
		}
		if next == "" {
			return all
		}
		q.Cursor = next
	}
}

func (w *shelf[Tx]) fixture() brokertest.Fixture {
	return brokertest.Fixture{
		Destination: w.to, Topic: topic,
		Stored: func(*testing.T) (held []brokertest.Received) {
			for _, m := range w.kept() {
				if m.Topic == topic {
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

// line is a store whose transactions fail, or whose commits get no answer.
type line[Tx any] struct {
	Store[Tx]

	down, mute atomic.Bool
	failed     atomic.Int64 // transactions
}

var errAway = errors.New("the database is away")

// InTx runs no transaction while the store is down, and loses the answer of a commit while it is mute.
func (l *line[Tx]) InTx(ctx context.Context, fn func(context.Context, Tx) error) error {
	if l.down.Load() {
		return errAway
	}
	err := l.Store.InTx(ctx, fn)
	if err != nil {
		l.failed.Add(1)
	}
	if err == nil && l.mute.Load() {
		return fmt.Errorf("%w: %w", errAway, postbag.ErrCommitUnknown)
	}
	return err
}

// KeepsLane is that of the store, if it has one.
func (l *line[Tx]) KeepsLane(ctx context.Context, tx Tx, lane string, epoch int64, record []byte) error {
	if k, is := l.Store.(store.LaneKeeper[Tx]); is {
		return k.KeepsLane(ctx, tx, lane, epoch, record)
	}
	return nil
}

// RunAgain is that of the store, if it has one.
func (l *line[Tx]) RunAgain(err error) bool {
	r, is := l.Store.(store.Rerunner)
	return is && r.RunAgain(err)
}

// Outage is that of the store, if it has one.
func (l *line[Tx]) Outage(err error) bool {
	o, is := l.Store.(store.OutageTeller)
	return is && o.Outage(err)
}
