package postbag

import (
	"context"
	"database/sql"
)

// Appender is the writing half of a store, over its own kind of transaction Tx.
// Stores implement it; applications use it through a [Publisher], which has
// validated every message and filled ID, Topic and Headers before it calls.
//
// Every method is safe for concurrent use, as far as Tx itself is.
type Appender[Tx any] interface {
	// Append writes msgs, one or more, to box in tx with one round trip, whatever
	// their number. It neither commits nor retries, and neither changes nor
	// keeps msgs or what they point to: maps may be shared between messages. Messages whose NotBefore lies in
	// the future (by the database's clock) go to the box's schedule, the others
	// to its log in the order given. An error leaves tx as the database leaves
	// it: usually only good for a rollback. A missing box is ErrNoBox.
	Append(ctx context.Context, tx Tx, box string, msgs []Message) error

	// Lock takes, until tx ends, one lock a key of box, so that writers of one
	// key commit one after another. keys are sorted and distinct, which keeps
	// two callers from waiting for each other. A store with a single writer has
	// nothing to do.
	Lock(ctx context.Context, tx Tx, box string, keys []string) error

	// Cancel removes a scheduled message that is not yet due, in tx, and says
	// whether it was there. It may wait a moment for a promotion in progress.
	Cancel(ctx context.Context, tx Tx, box string, id ID) (bool, error)

	// InTx runs fn in a new transaction and commits it. An error of fn, or a
	// panic, rolls it back and is passed on. Where the answer of COMMIT was
	// lost the error wraps ErrCommitUnknown: the transaction may stand.
	InTx(ctx context.Context, fn func(context.Context, Tx) error) error

	// Wake tells relays of this process that box has new messages. It never
	// blocks and is only a hint.
	Wake(box string)
}

// SQLTx is what *sql.Tx, *sqlx.Tx, bun.Tx, ent's and GORM's transactions have
// in common. Commit and Rollback are never called through it: they are here
// because a *sql.DB lacks them, so that passing one does not compile.
type SQLTx interface {
	ExecContext(ctx context.Context, query string, args ...any) (sql.Result, error)
	Commit() error
	Rollback() error
}
