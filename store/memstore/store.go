package memstore

import (
	"cmp"
	"context"
	"crypto/rand"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/postbag/postbag"
	"github.com/postbag/postbag/store"
	"github.com/postbag/postbag/store/storekit"
)

// Options are the options of a [Store]. The zero Options is a store like
// PostgreSQL, on the machine's clock, without faults. Every value of them has a
// meaning, so that [New] cannot fail.
type Options struct {
	// Now is the database's clock. Defaults to time.Now.
	Now func() time.Time
	// SingleWriter allows one open transaction at a time, as SQLite does: Begin waits.
	// There are then no prepared transactions, and subscriptions have one shard by
	// default.
	SingleWriter bool
	// MaxMessage is the largest payload, in bytes. Zero or less: postbag.MaxPayload.
	MaxMessage int
	// Fault is called at the start of every call, and says what goes wrong with it. It
	// runs in the call's own goroutine, without a lock held. Nil: nothing goes wrong.
	Fault func(ctx context.Context, op Op) Fault
}

// Store is a store in memory. It is safe for concurrent use, and starts no
// goroutine, so there is nothing to close. The zero Store is not usable: see
// [New].
type Store struct {
	opts     Options
	identity string
	woken    chan struct{}
	writer   chan struct{} // holds one token, if SingleWriter

	mu    sync.Mutex // guards all below
	boxes map[string]*box

	nextXID  uint64
	lastDone uint64 // the highest xid that has ended
	durable  uint64 // the highest xid that is not given out again after a Crash
	open     []*Tx  // those with an xid, in its order
	prepared map[string]*Tx
	locks    map[lockName]*Tx

	marks     map[markName]*markRow
	consumers map[string]time.Duration // how long marks are kept, of those that were declared
	unlooked  []markName               // what Forget has not looked at yet, in this walk
	lanes     map[string]*laneRow

	life        uint64 // grows at each Crash
	relays      map[string]*relayRow
	lastToken   int64
	epoch       int64
	lastCommand store.CommandID
	audit       []store.AuditEntry
	pauses      []store.Pause
	operations  []*operation
	operated    store.OperationID // the last id
	errorNotes  []errorNote

	forgetting atomic.Bool // a Forget is at work
}

var (
	_ store.Store           = (*Store)(nil)
	_ store.Waker           = (*Store)(nil)
	_ store.Inspector       = (*Store)(nil)
	_ store.Operator        = (*Store)(nil)
	_ store.Pauser          = (*Store)(nil)
	_ store.Bookkeeper      = (*Store)(nil)
	_ store.Editor          = (*Store)(nil)
	_ store.Steward         = (*Store)(nil)
	_ store.SlotMigrator    = (*Store)(nil)
	_ postbag.Appender[*Tx] = (*Store)(nil)
	_ store.Inbox[*Tx]      = (*Store)(nil)
	_ store.Forgetter       = (*Store)(nil)
	_ store.Lanes[*Tx]      = (*Store)(nil)
)

// New returns an empty store.
func New(o Options) *Store {
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.MaxMessage <= 0 {
		o.MaxMessage = postbag.MaxPayload
	}
	s := &Store{
		opts:      o,
		identity:  rand.Text(),
		woken:     make(chan struct{}, 1),
		boxes:     map[string]*box{},
		nextXID:   1,
		prepared:  map[string]*Tx{},
		locks:     map[lockName]*Tx{},
		marks:     map[markName]*markRow{},
		consumers: map[string]time.Duration{},
		lanes:     map[string]*laneRow{},
		relays:    map[string]*relayRow{},
		life:      1,
		epoch:     1,
	}
	if o.SingleWriter {
		s.writer = make(chan struct{}, 1)
		s.writer <- struct{}{}
	}
	return s
}

// Check implements store.Store. It always succeeds, unless a fault is injected.
func (s *Store) Check(ctx context.Context) (store.Info, error) {
	return call(ctx, s, OpCheck, func() (store.Info, error) {
		return store.Info{
			System:     "memory",
			Identity:   s.identity,
			Schema:     1,
			MaxMessage: s.opts.MaxMessage,
			Warnings:   []string{"nothing survives the process; use a database for what matters"},
			Features:   s.features(),
		}, nil
	})
}

func (s *Store) features() store.Features {
	return store.Features{
		ConcurrentWriters: !s.opts.SingleWriter,
		Prepared:          !s.opts.SingleWriter,
		Savepoints:        true,
		OneGroup:          s.opts.SingleWriter,
		Conditions:        true,
		Editing:           true,
		HeldTopics:        true,
		DeadLetters:       true,
		SlotRules:         true,
	}
}

// Woken implements store.Waker.
func (s *Store) Woken() <-chan struct{} { return s.woken }

// Wake implements postbag.Appender.
func (s *Store) Wake(string) { s.wake() }

func (s *Store) wake() {
	select {
	case s.woken <- struct{}{}:
	default:
	}
}

// Migrate implements store.Migrator: there is never anything to do.
func (s *Store) Migrate(ctx context.Context) ([]string, error) { return nil, ctx.Err() }

// Pending implements store.Migrator.
func (s *Store) Pending(ctx context.Context) (int, []store.Step, error) { return 1, nil, ctx.Err() }

// CreateBox implements store.Migrator.
func (s *Store) CreateBox(ctx context.Context, name string) error {
	return s.CreateBoxBy(ctx, name, "")
}

// CreateBoxBy implements store.SlotMigrator.
func (s *Store) CreateBoxBy(ctx context.Context, name string, by store.SlotRule) error {
	if err := by.Validate(); err != nil {
		return fmt.Errorf("memstore: create box %q: %w", name, err)
	}
	_, err := call(ctx, s, OpCreateBox, func() (struct{}, error) {
		s.mu.Lock()
		defer s.mu.Unlock()
		if b := s.boxes[name]; b != nil {
			return struct{}{}, storekit.SameRule(name, b.slots, by)
		}
		b := newBox(name)
		b.slots = cmp.Or(by, store.SlotsByHash)
		s.boxes[name] = b
		s.epoch++
		return struct{}{}, nil
	})
	return err
}

// SlotRule implements store.SlotMigrator.
func (s *Store) SlotRule(ctx context.Context, name string) (store.SlotRule, error) {
	return call(ctx, s, OpInspect, func() (store.SlotRule, error) {
		s.mu.Lock()
		defer s.mu.Unlock()
		b, err := s.box(name)
		if err != nil {
			return "", err
		}
		return b.slots, nil
	})
}

// box returns a box; the caller holds s.mu.
func (s *Store) box(name string) (*box, error) {
	if b := s.boxes[name]; b != nil {
		return b, nil
	}
	return nil, fmt.Errorf("memstore: box %q: %w", name, store.ErrNoBox)
}

// subscription returns a subscription; the caller holds s.mu.
func (s *Store) subscription(r store.Ref) (*subscription, error) {
	b, err := s.box(r.Box)
	if err != nil {
		return nil, err
	}
	if sub := b.subs[r.Subscription]; sub != nil {
		return sub, nil
	}
	return nil, fmt.Errorf("memstore: subscription %s: %w", r, store.ErrNoSubscription)
}

func (s *Store) now() time.Time { return s.opts.Now() }
