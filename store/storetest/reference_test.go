package storetest

import (
	"context"
	"sync/atomic"
	"testing"
	"time"

	"github.com/postbag/postbag"
	"github.com/postbag/postbag/store"
	"github.com/postbag/postbag/store/memstore"
)

// database is a memstore as the suite sees it.
type database = Database[*memstore.Tx]

// reference is a database that keeps the contract.
func reference() *database { return referenceOf(memstore.Options{}) }

func referenceOf(o memstore.Options) *database {
	var cut atomic.Bool
	o.Fault = func(_ context.Context, op memstore.Op) memstore.Fault {
		if op == memstore.OpCommit && cut.CompareAndSwap(true, false) {
			return memstore.Fault{Err: context.DeadlineExceeded, Acted: true}
		}
		return memstore.Fault{}
	}
	var aged atomic.Int64 // marks become older as the clock moves on
	o.Now = func() time.Time { return time.Now().Add(time.Duration(aged.Load())) }
	s := memstore.New(o)
	return &database{
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
		Stranger: func(ctx context.Context) (func(context.Context) error, error) {
			tx, err := s.Begin(ctx)
			if err != nil {
				return nil, err
			}
			return tx.Commit, tx.Write(ctx)
		},
		CutAnswer:       func() { cut.Store(true) },
		Burn:            s.Burn,
		ChangeOperation: s.ChangeOperation,
		AgeErrorNotes:   s.AgeErrorNotes,
		Age: func(_ context.Context, _ string, by time.Duration) error {
			aged.Add(int64(by))
			return nil
		},
		Snapshot: s.Begin,
		Crash: func(context.Context) error {
			s.Crash()
			return nil
		},
	}
}

// harness is that of a database which something is done to, and which is given
// little time.
func harness(patience time.Duration, spoil func(*database)) Harness[*memstore.Tx] {
	return Harness[*memstore.Tx]{
		Features: store.Features{ConcurrentWriters: true, Prepared: true, Savepoints: true, Conditions: true, Editing: true, DeadLetters: true, SlotRules: true},
		Patience: patience,
		Rounds:   20,
		New: func(testing.TB) *database {
			db := reference()
			spoil(db)
			return db
		},
	}.withDefaults()
}

// spoilt is a memstore some of whose calls are done otherwise.
type spoilt struct {
	*memstore.Store
	turn     func(context.Context, store.Turn) (store.TurnResult, error)
	beat     func(context.Context, store.Beat) (store.View, error)
	due      func(context.Context, store.Due) ([]store.Parked, error)
	blocked  func(context.Context, store.Lease) (store.Blocks, error)
	declare  func(context.Context, []store.Spec) error
	maintain func(context.Context, store.Retention) (store.Report, error)
	createBy func(context.Context, string, store.SlotRule) error
}

// spoil puts another store in a database's place, as like it as can be.
func spoil(db *database) *spoilt {
	s := db.Store.(*memstore.Store) //nolint:errcheck // reference made it
	out := &spoilt{
		Store: s, turn: s.Turn, beat: s.Beat, due: s.Due, blocked: s.Blocked, declare: s.Declare, maintain: s.Maintain,
		createBy: s.CreateBoxBy,
	}
	db.Store = out
	return out
}

func (s *spoilt) Turn(ctx context.Context, t store.Turn) (store.TurnResult, error) {
	return s.turn(ctx, t)
}

func (s *spoilt) Beat(ctx context.Context, b store.Beat) (store.View, error) { return s.beat(ctx, b) }

func (s *spoilt) Due(ctx context.Context, d store.Due) ([]store.Parked, error) { return s.due(ctx, d) }

func (s *spoilt) Blocked(ctx context.Context, l store.Lease) (store.Blocks, error) {
	return s.blocked(ctx, l)
}

func (s *spoilt) Declare(ctx context.Context, specs []store.Spec) error { return s.declare(ctx, specs) }

func (s *spoilt) Maintain(ctx context.Context, r store.Retention) (store.Report, error) {
	return s.maintain(ctx, r)
}

// careless is an appender some of whose calls are done otherwise.
type careless struct {
	*memstore.Store
	append func(ctx context.Context, tx *memstore.Tx, box string, msgs []postbag.Message) error
	lock   func(ctx context.Context, tx *memstore.Tx, box string, keys []string) error
	cancel func(ctx context.Context, tx *memstore.Tx, box string, id postbag.ID) (bool, error)
	inTx   func(ctx context.Context, fn func(context.Context, *memstore.Tx) error) error
}

// neglect puts another appender in a database's place.
func neglect(db *database) *careless {
	s := db.Appender.(*memstore.Store) //nolint:errcheck // reference made it
	out := &careless{Store: s, append: s.Append, lock: s.Lock, cancel: s.Cancel, inTx: s.InTx}
	db.Appender = out
	return out
}

func (c *careless) Append(ctx context.Context, tx *memstore.Tx, box string, msgs []postbag.Message) error {
	return c.append(ctx, tx, box, msgs)
}

func (c *careless) Lock(ctx context.Context, tx *memstore.Tx, box string, keys []string) error {
	return c.lock(ctx, tx, box, keys)
}

func (c *careless) Cancel(ctx context.Context, tx *memstore.Tx, box string, id postbag.ID) (bool, error) {
	return c.cancel(ctx, tx, box, id)
}

func (c *careless) InTx(ctx context.Context, fn func(context.Context, *memstore.Tx) error) error {
	return c.inTx(ctx, fn)
}

func (s *spoilt) CreateBoxBy(ctx context.Context, box string, by store.SlotRule) error {
	return s.createBy(ctx, box, by)
}
