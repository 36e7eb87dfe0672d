package storetest

import (
	"context"

	"github.com/postbag/postbag"
	"github.com/postbag/postbag/store"
)

// erase hides Tx, so that the cases need not be generic.
func erase[Tx any](db *Database[Tx]) *Database[any] {
	out := &Database[any]{
		Store:            db.Store,
		Second:           db.Second,
		Appender:         erased[Tx]{db.Appender},
		Create:           db.Create,
		Begin:            func(ctx context.Context) (any, error) { return db.Begin(ctx) },
		Commit:           func(ctx context.Context, tx any) error { return db.Commit(ctx, typed[Tx](tx)) },
		Rollback:         func(ctx context.Context, tx any) error { return db.Rollback(ctx, typed[Tx](tx)) },
		CommitPrepared:   db.CommitPrepared,
		RollbackPrepared: db.RollbackPrepared,
		Stranger:         db.Stranger,
		CutAnswer:        db.CutAnswer,
		Undecodable:      db.Undecodable,
		Renumber:         db.Renumber,
		Crash:            db.Crash,
		Advance:          db.Advance,
		Now:              db.Now,
		Burn:             db.Burn,
		Age:              db.Age,
		ChangeOperation:  db.ChangeOperation,
		AgeErrorNotes:    db.AgeErrorNotes,
	}
	eraseInbox(db, out)
	eraseLanes(db, out)
	named := func(f func(context.Context, Tx, string) error) func(context.Context, any, string) error {
		if f == nil {
			return nil
		}
		return func(ctx context.Context, tx any, name string) error { return f(ctx, typed[Tx](tx), name) }
	}
	out.Savepoint, out.RollbackTo, out.Prepare = named(db.Savepoint), named(db.RollbackTo), named(db.Prepare)
	if db.Plain != nil {
		out.Plain = func(ctx context.Context, tx any, box, topic string) error {
			return db.Plain(ctx, typed[Tx](tx), box, topic)
		}
	}
	return out
}

// eraseInbox finds the inbox of db.
func eraseInbox[Tx any](db *Database[Tx], out *Database[any]) {
	if db.Snapshot != nil {
		out.Snapshot = func(ctx context.Context) (any, error) { return db.Snapshot(ctx) }
	}
	inbox := db.Inbox
	if inbox == nil {
		inbox, _ = db.Store.(store.Inbox[Tx])
	}
	if inbox == nil {
		return
	}
	out.Inbox, out.Forgetter = erasedInbox[Tx]{inbox}, db.Forgetter
	for _, with := range []any{inbox, db.Store} {
		if f, ok := with.(store.Forgetter); ok && out.Forgetter == nil {
			out.Forgetter = f
		}
	}
}

// erasedInbox is an Inbox whose transactions have no type.
type erasedInbox[Tx any] struct{ of store.Inbox[Tx] }

func (i erasedInbox[Tx]) Mark(ctx context.Context, tx any, consumer string, marks []store.Mark) ([]bool, error) {
	return i.of.Mark(ctx, typed[Tx](tx), consumer, marks)
}

// eraseLanes finds the lanes of db.
func eraseLanes[Tx any](db *Database[Tx], out *Database[any]) {
	for _, with := range []any{db.Lanes, db.Inbox, db.Store} {
		if lanes, ok := with.(store.Lanes[Tx]); ok && lanes != nil {
			out.Lanes = erasedLanes[Tx]{lanes}
			return
		}
	}
}

// erasedLanes are Lanes whose transactions have no type.
type erasedLanes[Tx any] struct{ of store.Lanes[Tx] }

func (l erasedLanes[Tx]) OpenLane(ctx context.Context, tx any, lane string) (store.LaneState, error) {
	return l.of.OpenLane(ctx, typed[Tx](tx), lane)
}

func (l erasedLanes[Tx]) WriteLane(ctx context.Context, tx any, lane string, epoch int64, record []byte) error {
	return l.of.WriteLane(ctx, typed[Tx](tx), lane, epoch, record)
}

func (l erasedLanes[Tx]) Try(ctx context.Context, tx any, fn func(context.Context) error) (failed, broken error) {
	return l.of.Try(ctx, typed[Tx](tx), fn)
}

// typed gives a transaction its type back.
func typed[Tx any](tx any) Tx {
	return tx.(Tx) //nolint:forcetypeassert,errcheck // Begin made it
}

// erased is an Appender whose transactions have no type.
type erased[Tx any] struct{ to postbag.Appender[Tx] }

func (a erased[Tx]) Append(ctx context.Context, tx any, box string, msgs []postbag.Message) error {
	return a.to.Append(ctx, typed[Tx](tx), box, msgs)
}

func (a erased[Tx]) Lock(ctx context.Context, tx any, box string, keys []string) error {
	return a.to.Lock(ctx, typed[Tx](tx), box, keys)
}

func (a erased[Tx]) Cancel(ctx context.Context, tx any, box string, id postbag.ID) (bool, error) {
	return a.to.Cancel(ctx, typed[Tx](tx), box, id)
}

func (a erased[Tx]) InTx(ctx context.Context, fn func(context.Context, any) error) error {
	return a.to.InTx(ctx, func(ctx context.Context, tx Tx) error { return fn(ctx, tx) })
}

func (a erased[Tx]) Wake(box string) { a.to.Wake(box) }
