package store

import (
	"context"
	"errors"
)

// Lanes is implemented by a store that can keep the records of exactly-once lanes
// (broker.Lane) beside effects, in the user's own transactions Tx. A transaction has the
// effects of many messages and one record of them, so no message needs a mark. Package
// inbox uses it (BatchDestination), and checks every argument first.
//
// Of a lane the database has a row: its epoch, which is another one after each opening, and
// its record. Names are compared as bytes. It is safe for concurrent use, as far as Tx
// itself is.
type Lanes[Tx any] interface {
	// OpenLane gives a lane a new epoch in tx, and returns it with the record. No opening
	// of this lane has had it, not even one that the database knows no more since it was
	// rolled back, or the database restored from a backup. So epochs are drawn at random
	// (storekit.NewEpoch), and not counted: they tell nothing of sequence. OpenLane waits
	// for every transaction that has opened or written the lane and is open: the caller
	// then knows that each has committed or rolled back. Before tx has committed nothing
	// is opened.
	OpenLane(ctx context.Context, tx Tx, lane string) (LaneState, error)

	// WriteLane replaces the record of a lane in tx, if the lane's epoch is epoch. If it
	// is another, the error is ErrFenced, and tx is to be rolled back. Until tx ends
	// nobody else can open or write the lane. Where a transaction reads an old snapshot,
	// waiting can end in ErrAgain instead, here and in OpenLane.
	WriteLane(ctx context.Context, tx Tx, lane string, epoch int64, record []byte) error

	// Try runs fn behind a savepoint of tx. If fn returns an error, Try takes back what
	// was written in tx since then, and returns the error as failed: tx goes on. A
	// statement that failed and was not reported by fn is an error of fn too. So is a
	// constraint that is deferred to the commit and is broken already, where the database
	// can look at that. broken says that the savepoint itself failed: tx is then only
	// good for a rollback. Calls for one tx are not nested.
	Try(ctx context.Context, tx Tx, fn func(context.Context) error) (failed, broken error)
}

// LaneKeeper is implemented by a store with Lanes whose database can roll a whole
// transaction back when a statement fails, and then let it go on, as InnoDB does at a
// deadlock. A handler that does not report the error would commit without the record, and
// without what was applied before it.
type LaneKeeper[Tx any] interface {
	// KeepsLane fails with ErrAgain if tx does not have any more what WriteLane has
	// written in it with these arguments. Roll tx back then, and run it again.
	KeepsLane(ctx context.Context, tx Tx, lane string, epoch int64, record []byte) error
}

// LaneState is a lane that was opened.
type LaneState struct {
	// Epoch is that of who opened it last. It is above zero.
	Epoch int64
	// Record is what the last committed transaction wrote. Nil: none has.
	Record []byte
}

// MaxLane is the largest length of a lane's name in a store, in bytes. It has at least one.
const MaxLane = 500

// MaxLaneRecord is the largest record of a lane, in bytes (broker.MaxRecord).
const MaxLaneRecord = 512 << 10

// ErrFenced says that somebody opened the lane later. Roll the transaction back.
var ErrFenced = errors.New("store: somebody opened this lane later; roll the transaction back")
