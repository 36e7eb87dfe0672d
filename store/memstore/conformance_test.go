package memstore_test

import (
	"context"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/postbag/postbag/store"
	"github.com/postbag/postbag/store/memstore"
	"github.com/postbag/postbag/store/storetest"
)

var concurrent = store.Features{ConcurrentWriters: true, Prepared: true, Savepoints: true, Conditions: true, Editing: true, HeldTopics: true, DeadLetters: true, SlotRules: true}

func TestConformance(t *testing.T) {
	t.Parallel()
	storetest.Run(t, storetest.Harness[*memstore.Tx]{
		On:       "memory",
		Features: concurrent,
		New: func(testing.TB) *storetest.Database[*memstore.Tx] {
			return database(memstore.Options{})
		},
	})
}

func TestConformanceOnAClockOfItsOwn(t *testing.T) {
	t.Parallel()
	storetest.Run(t, storetest.Harness[*memstore.Tx]{
		On:       "memory",
		Features: concurrent,
		New: func(testing.TB) *storetest.Database[*memstore.Tx] {
			c := &clock{now: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)}
			db := database(memstore.Options{Now: c.Now})
			db.Now, db.Advance = c.Now, c.Advance
			db.Age = func(_ context.Context, _ string, by time.Duration) error {
				c.Advance(by)
				return nil
			}
			return db
		},
	})
}

func TestConformanceWithASingleWriter(t *testing.T) {
	t.Parallel()
	storetest.Run(t, storetest.Harness[*memstore.Tx]{
		On:       "memory",
		Features: store.Features{Savepoints: true, OneGroup: true, Conditions: true, Editing: true, HeldTopics: true, DeadLetters: true, SlotRules: true},
		New: func(testing.TB) *storetest.Database[*memstore.Tx] {
			db := database(memstore.Options{SingleWriter: true})
			db.Prepare, db.CommitPrepared, db.RollbackPrepared, db.Stranger = nil, nil, nil, nil
			db.Snapshot = nil // it would keep the other transaction from beginning
			return db
		},
	})
}

// database is a new store as the suite sees it.
func database(o memstore.Options) *storetest.Database[*memstore.Tx] {
	var cut atomic.Bool
	o.Fault = func(_ context.Context, op memstore.Op) memstore.Fault {
		if op == memstore.OpCommit && cut.CompareAndSwap(true, false) {
			return memstore.Fault{Err: context.DeadlineExceeded, Acted: true}
		}
		return memstore.Fault{}
	}
	// Marks become older as the clock moves on.
	var aged atomic.Int64
	now := o.Now
	if now == nil {
		now = time.Now
	}
	o.Now = func() time.Time { return now().Add(time.Duration(aged.Load())) }
	s := memstore.New(o)
	return &storetest.Database[*memstore.Tx]{
		Store:            s,
		Appender:         s,
		Create:           s.CreateBox,
		Begin:            s.Begin,
		Commit:           func(ctx context.Context, tx *memstore.Tx) error { return tx.Commit(ctx) },
		Rollback:         func(ctx context.Context, tx *memstore.Tx) error { return tx.Rollback(ctx) },
		Savepoint:        func(ctx context.Context, tx *memstore.Tx, name string) error { return tx.Savepoint(ctx, name) },
		RollbackTo:       func(ctx context.Context, tx *memstore.Tx, name string) error { return tx.RollbackTo(ctx, name) },
		Prepare:          func(ctx context.Context, tx *memstore.Tx, name string) error { return tx.Prepare(ctx, name) },
		CommitPrepared:   s.CommitPrepared,
		RollbackPrepared: s.RollbackPrepared,
		Stranger:         func(ctx context.Context) (func(context.Context) error, error) { return stranger(ctx, s) },
		CutAnswer:        func() { cut.Store(true) },
		Crash: func(context.Context) error {
			s.Crash()
			return nil
		},
		Burn:            s.Burn,
		ChangeOperation: s.ChangeOperation,
		AgeErrorNotes:   s.AgeErrorNotes,
		Age: func(_ context.Context, _ string, by time.Duration) error {
			aged.Add(int64(by))
			return nil
		},
		Snapshot: s.Begin, // there are no old snapshots
	}
}

// stranger opens a transaction that has written something else.
func stranger(ctx context.Context, s *memstore.Store) (end func(context.Context) error, err error) {
	tx, err := s.Begin(ctx)
	if err != nil {
		return nil, err
	}
	return tx.Commit, tx.Write(ctx)
}

// clock is a clock that moves by hand, and by a microsecond at each look, as a
// database's does.
type clock struct {
	mu  sync.Mutex
	now time.Time
}

func (c *clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(time.Microsecond)
	return c.now
}

func (c *clock) Advance(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(d)
}
