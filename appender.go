package postbag

import (
	"context"
	"database/sql"
)

// Appender is the writing half of a store, over its own kind of transaction Tx. Stores
// implement it. Applications use it through a [Publisher], which validates every message
// and fills in ID, Topic and Headers before it calls.
//
// Every method is safe for concurrent use, as far as Tx itself is.
type Appender[Tx any] interface {
	// Append writes msgs, one or more, to box in tx, with one round trip, whatever their
	// number. Messages whose NotBefore lies in the future (by the database's clock) go to
	// the box's schedule. The others go to its log, in the order of msgs.
	//
	// Append does not commit and does not retry. It does not change or keep msgs, or what
	// they point to: messages may share maps. After an error tx is as the database leaves
	// it, usually only good for a rollback. A missing box is ErrNoBox, a transaction that has
	// ended ErrTxEnded.
	Append(ctx context.Context, tx Tx, box string, msgs []Message) error

	// Lock takes one lock per key of box, until tx ends, so that writers of one key
	// commit one after another. keys are sorted and distinct, so that two callers do not
	// deadlock. A store with a single writer has nothing to do.
	Lock(ctx context.Context, tx Tx, box string, keys []string) error

	// Cancel removes a scheduled message that is not yet due, in tx. It returns whether
	// the message was there. It may wait a moment while a relay moves the message into
	// the log.
	Cancel(ctx context.Context, tx Tx, box string, id ID) (bool, error)

	// InTx runs fn in a new transaction and commits it. If fn returns an error or panics,
	// InTx rolls back, and returns the error or panics. If the answer to COMMIT was lost,
	// the error wraps ErrCommitUnknown: the transaction may have committed.
	InTx(ctx context.Context, fn func(context.Context, Tx) error) error

	// Wake tells relays in this process that box has new messages. It is only a hint, and
	// never blocks.
	Wake(box string)
}

// SQLTx is what *sql.Tx, *sqlx.Tx, bun.Tx, ent's and GORM's transactions have in common.
// Postbag never calls Commit and Rollback through it. They are here because a *sql.DB
// lacks them, so that passing one does not compile.
type SQLTx interface {
	ExecContext(ctx context.Context, query string, args ...any) (sql.Result, error)
	QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error)
	Commit() error
	Rollback() error
}
