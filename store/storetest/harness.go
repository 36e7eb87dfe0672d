package storetest

import (
	"context"
	"testing"
	"time"

	"github.com/postbag/postbag"
	"github.com/postbag/postbag/store"
)

// Harness plugs a store into the suite. An adapter's own test is a harness and
// one call of [Run]:
//
//	func TestConformance(t *testing.T) {
//		storetest.Run(t, storetest.Harness[pgx.Tx]{Features: features, New: newDatabase})
//	}
type Harness[Tx any] struct {
	// New opens a database for one case, with the schema and without a box. Each case
	// calls it one or more times, and several cases call it at a time. It ends what it
	// began with t.Cleanup. Required.
	New func(t testing.TB) *Database[Tx]

	// Features are those that the store's Check reports. The suite asserts that, and
	// runs the cases of each feature. It also asserts that the store lacks a feature
	// that is false.
	Features store.Features

	// On names what the suite runs on, with its version: "PostgreSQL 15.18". The table
	// of make test has a line for it. Zero: no line.
	On string

	// Writers is how many transactions the concurrent cases hold open at a time.
	// Defaults to 16. A store must be able to hold three times as many.
	Writers int

	// Rounds is how many transactions each of those writers runs. Defaults to
	// 60, or 15 with -short.
	Rounds int

	// LargeRows is how many messages the large transaction has. Defaults to
	// 20,000.
	LargeRows int

	// LargeBytes is the largest payload that the suite tries, up to the MaxMessage that
	// Check reports. Defaults to 8 MiB.
	LargeBytes int

	// Patience is how long the suite waits for an event that must come. Defaults to
	// 30 s.
	Patience time.Duration
}

// Database is one database under test. Its functions do what an application, another
// program or a fault would do to it. A nil function is something that the database cannot
// do. The comments say what the suite then does.
//
// The suite calls every function from several goroutines at a time, but never twice at a
// time with one Tx.
type Database[Tx any] struct {
	// Store is the store under test. Required.
	Store store.Store

	// Second opens another store on the same database, as another process would. Nil:
	// the suite uses Store for both.
	Second func(t testing.TB) store.Store

	// Appender writes messages. Required.
	Appender postbag.Appender[Tx]

	// Inbox marks what consumers applied, in transactions Tx. Nil: Store, if it is a
	// store.Inbox[Tx]; if it is none, the cases of inboxes are left out.
	Inbox store.Inbox[Tx]

	// Lanes keeps records of exactly-once lanes, in transactions Tx. Nil: Inbox, or else
	// Store, if it is a store.Lanes[Tx]; if neither is, the cases of lanes are left out.
	Lanes store.Lanes[Tx]

	// Forgetter removes old marks. Nil: Inbox, or else Store, if it is one; if neither is,
	// the cases of forgetting are left out.
	Forgetter store.Forgetter

	// Age makes the committed marks of a consumer older, by a time. It may do it to the
	// marks of other consumers, too. No transaction of the suite that has marks is open
	// then. Required if there is a Forgetter.
	Age func(ctx context.Context, consumer string, by time.Duration) error

	// Snapshot begins a transaction that goes on reading what was committed when Snapshot
	// returned: it has read something by then. Nil: the case is left out.
	Snapshot func(ctx context.Context) (Tx, error)

	// Create makes a box. Required.
	Create func(ctx context.Context, box string) error

	// Plain inserts a message with a topic and nothing else into a box, as programs
	// without the library do. Nil: the case is left out.
	Plain func(ctx context.Context, tx Tx, box, topic string) error

	// Begin, Commit and Rollback run an application's transaction. A store with
	// one writer may make Begin, or the first write, wait until ctx ends.
	// Required.
	Begin    func(ctx context.Context) (Tx, error)
	Commit   func(ctx context.Context, tx Tx) error
	Rollback func(ctx context.Context, tx Tx) error

	// Savepoint sets a savepoint in tx, and RollbackTo undoes what came after
	// it. Required if Features.Savepoints, and nil otherwise.
	Savepoint  func(ctx context.Context, tx Tx, name string) error
	RollbackTo func(ctx context.Context, tx Tx, name string) error

	// Prepare ends tx as a prepared transaction with a global name, which
	// CommitPrepared or RollbackPrepared ends later. Required if
	// Features.Prepared, and nil otherwise.
	Prepare          func(ctx context.Context, tx Tx, name string) error
	CommitPrepared   func(ctx context.Context, name string) error
	RollbackPrepared func(ctx context.Context, name string) error

	// Stranger opens a transaction of another program that has written something
	// elsewhere (in another database of the server, if it has several). It holds the
	// transaction until end is called. Required if Features.ConcurrentWriters.
	Stranger func(ctx context.Context) (end func(context.Context) error, err error)

	// CutAnswer makes the next COMMIT of Appender.InTx lose its answer, although the
	// database carries it out. Nil: the case is left out.
	CutAnswer func()

	// Undecodable adds one row to the log of box that no reader can decode whole, such
	// as one whose headers are no JSON object of strings. It may work around what the
	// box refuses. Nil: the case is left out.
	Undecodable func(ctx context.Context, box string) error

	// Renumber empties the log of box and begins its numbering again, as its owner can.
	// Nil: the case is left out.
	Renumber func(ctx context.Context, box string) error

	// Crash ends the server without warning and starts it again; open
	// transactions are lost, prepared ones are not. Nil: the case is left out.
	Crash func(ctx context.Context) error

	// Advance moves the database's clock on by d. Nil: the suite uses short
	// times and waits.
	Advance func(d time.Duration)

	// Now is the database's clock. Nil: time.Now.
	Now func() time.Time

	// Burn gives out seqs of box without using them, as if the transactions that took
	// them had rolled back. It stops at the end of the span (of store.TallySpan seqs) in
	// which the next seq lies. Retention cases use it, so that a store that drops whole
	// partitions has one to drop. Nil: nothing is burnt.
	Burn func(ctx context.Context, box string) error

	// ChangeOperation makes the record of an operation one of a version, and its last change
	// earlier by a time. Nil: the cases of what a later version made, and of what
	// housekeeping removes, are left out.
	ChangeOperation func(ctx context.Context, id store.OperationID, version int, earlier time.Duration) error

	// AgeErrorNotes makes the notes on errors of a box older, by a time, with all that is known
	// of them. Nil: the cases of what housekeeping does with notes are left out.
	AgeErrorNotes func(ctx context.Context, box string, by time.Duration) error
}
