package store

import (
	"context"
	"errors"
	"time"
)

// Reader asks a replica of a database what people ask of a store: it cannot write. Its methods are those of the store, and may be
// called concurrently. An answer is as of some moment at or after the latest time that Reached returned. Overview judges
// heartbeats and ages as of that time. Nothing is tried again: a replica may end any question, and the primary has the answer, too.
type Reader interface {
	Inspector

	// Audited is that of Operator.
	Audited(ctx context.Context, limit int) ([]AuditEntry, error)
	// Clock, Operation and Operations are those of Bookkeeper. The clock is the replica's, as of now.
	Clock(ctx context.Context) (time.Time, error)
	Operation(ctx context.Context, id OperationID) (Operation, error)
	Operations(ctx context.Context, limit int) ([]Operation, error)
	// SeqBefore and Floor are those of Replayer.
	SeqBefore(ctx context.Context, box string, at time.Time) (int64, error)
	Floor(p Position) (int64, error)
	// Due is that of Store.
	Due(ctx context.Context, d Due) ([]Parked, error)
	// Reached compares the replica with a watermark that its primary made a moment ago. It returns Watermark.At of the latest one of
	// those it was given that the replica has reached: it has all that the primary had then. It waits up to 200 ms until the
	// replica has reached this one. The errors are ErrNoReplica, ErrOtherDatabase, ErrSchema, ErrBehind if it has reached
	// none yet, and those of a replica that is away.
	Reached(ctx context.Context, m Watermark) (time.Time, error)
	// Close frees what the reader began.
	Close() error
}

// Primary is implemented by a store whose database can have replicas.
type Primary interface {
	// Watermark returns how far the database has come. It writes nothing, and asks for single values.
	Watermark(ctx context.Context) (Watermark, error)
}

// Watermark is how far a database had come at some time. Only the Reader of the same kind of store can read it.
type Watermark struct {
	// Database is which database it is, and which history of it.
	Database string
	// Place is how far it had come.
	Place string
	// At is when it was asked for, by the clock of this process.
	At time.Time
}

// Errors of a Reader.
var (
	// ErrNoReplica: the server is a primary, such as a replica that was promoted.
	ErrNoReplica = errors.New("store: the server is no replica, or was promoted; name a replica of the store's server")
	// ErrOtherDatabase: the replica has another database than the primary, or another history of it.
	ErrOtherDatabase = errors.New("store: it is no replica of this store's database; name one that follows the store's server")
	// ErrBehind: it is not known yet how far the replica is behind.
	ErrBehind = errors.New("store: the replica is behind, and by how much is not known yet; ask again in a moment")
)
