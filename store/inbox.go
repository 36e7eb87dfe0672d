package store

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"
)

// Inbox is implemented by a store that can record which messages a consumer has applied,
// in the consumer's own transactions Tx. It is the idempotent receiver of Hohpe and Woolf
// (Enterprise Integration Patterns), with the record and the effect in one transaction.
// Applications use it through package inbox, which checks every argument first.
//
// It is safe for concurrent use, as far as Tx itself is.
type Inbox[Tx any] interface {
	// Mark records in tx that consumer has applied marks, one or more, and returns for
	// each of them whether that is new. If it is not, the consumer skips the message: its
	// effect is committed already, or was marked earlier in tx. Marks of one call that
	// have one id are one mark: the first is fresh, the others are not.
	//
	// If everything is new, and has not been marked before, Mark takes one round trip,
	// whatever the number of marks. Others can take a second.
	//
	// Transactions that mark one id wait for each other. When the first commits, the
	// others get false. When it rolls back, one of the others gets true. Mark locks ids in
	// the order of their bytes, so that two calls do not deadlock; two transactions that
	// call Mark several times can. Where a transaction reads an old snapshot (repeatable
	// read, serializable), waiting can end in ErrAgain instead.
	//
	// If a mark has another Sum than the one that was recorded with its id, and neither is
	// zero, the error is ErrOtherBytes and names consumer and id. Nothing of the call is
	// then to be committed: roll tx back. Ids are compared as bytes, and so are the names
	// of consumers.
	//
	// Mark does not commit and does not retry. It keeps neither marks nor tx. After an
	// error tx is as the database leaves it, usually only good for a rollback.
	Mark(ctx context.Context, tx Tx, consumer string, marks []Mark) ([]bool, error)
}

// Mark is what is recorded about one message that a consumer applied.
type Mark struct {
	ID MessageID
	// Sum is a hash of what the message holds. Zero: none is compared or recorded.
	Sum Sum
}

// MessageID identifies a message for one consumer. It is any bytes, from 1 to
// MaxMessageID of them; it need not be text. Package inbox makes some from UUIDs and from
// places in a log.
type MessageID string

// Sum is the SHA-256 of what a message holds. The zero Sum is none.
type Sum [32]byte

const (
	// MaxMessageID is the largest length of a MessageID, in bytes.
	MaxMessageID = 255
	// MaxConsumer is the largest length of a consumer's name, in bytes.
	MaxConsumer = 100
	// MaxMarks is how many marks a call of Mark takes at most.
	MaxMarks = 10_000
	// DefaultKeep is for how long the marks of a consumer are kept that was not declared.
	DefaultKeep = 30 * 24 * time.Hour
	// MinKeep is the shortest time for which marks can be kept.
	MinKeep = time.Minute
)

// Rerunner is implemented by a store with an Inbox that knows the errors of its database's
// drivers. A consumer's handler returns them as they are, and need not know which of them
// pass.
type Rerunner interface {
	// RunAgain says whether err, of a statement in a transaction or of its commit, means
	// what ErrAgain means. It finds the driver's error in whatever wraps it. It does no
	// I/O, and is safe for concurrent use. Nil is false.
	RunAgain(err error) bool
}

// OutageTeller is implemented by a store with an Inbox that knows the errors of its database's
// drivers. A database can answer, and still fail what writes: its disk is full, or it is
// read-only since a failover. A statement of a handler gets that error, or the commit behind
// it. It is no fault of the message.
type OutageTeller interface {
	// Outage says whether err, of a statement in a transaction or of its commit, means that
	// the database fails, and not what it was asked: it has no room on its disk, or takes no
	// writes. What one statement can cause each time is not among it, or its message would be
	// tried for ever: memory or temporary room that is used up, a damaged row, a session that
	// the server has ended, perhaps because of that statement. Outage finds the driver's error
	// in whatever wraps it. It does no I/O, and is safe for concurrent use. Nil is false, and
	// so is a connection that broke. Whether the database works, a new one tells.
	Outage(err error) bool
}

// Forgetter is implemented by a store with an Inbox that can remove old marks.
type Forgetter interface {
	// DeclareConsumer says for how long the marks of a consumer are kept: at least keep,
	// from a minute up, by the database's clock. It replaces what was said before. A
	// consumer need not be declared; its marks are then kept for DefaultKeep. Concurrent
	// calls are safe.
	DeclareConsumer(ctx context.Context, consumer string, keep time.Duration) error
	// Consumers returns the declared consumers, by name.
	Consumers(ctx context.Context) ([]Consumer, error)
	// Forget removes marks whose time is over, for at most about a second. It walks
	// through all marks in small batches, each in a transaction of its own, and remembers
	// in the database how far it got. It never waits for a lock that a consumer holds, and
	// a consumer never waits for more than one batch. Several processes may call it: one
	// at a time works, the others return at once with Busy.
	Forget(ctx context.Context) (Forgotten, error)
}

// ValidConsumer says whether a consumer can have this name: text of 1 to MaxConsumer
// bytes, without control characters.
func ValidConsumer(name string) error {
	switch {
	case name == "":
		return errors.New("the consumer's name is empty; choose one, and keep it")
	case len(name) > MaxConsumer:
		return fmt.Errorf("the consumer's name has %d bytes, more than %d; shorten it", len(name), MaxConsumer)
	case !utf8.ValidString(name):
		return fmt.Errorf("the consumer's name %q is not valid UTF-8; choose a name that is text", name)
	case strings.IndexByte(name, 0) >= 0:
		return fmt.Errorf("the consumer's name %q has a NUL byte; remove it", name)
	case strings.ContainsFunc(name, unicode.IsControl):
		return fmt.Errorf("the consumer's name %q has a control character; remove it", name)
	}
	return nil
}

// Consumer is what a store knows of a declared consumer.
type Consumer struct {
	Name string
	// Keep is for how long its marks are kept.
	Keep time.Duration
}

// Forgotten is what a call of Forget did.
type Forgotten struct {
	// Looked is how many marks it looked at, Removed how many of these it removed.
	Looked, Removed int64
	// Done says that this call came to the end of the marks. The next call begins again:
	// call it again after a pause. If it is false, and Busy is too, there is more to do.
	Done bool
	// Busy says that another process is at it. Nothing was done.
	Busy bool
}

// Errors of an Inbox.
var (
	// ErrOtherBytes: a message has an id that the consumer has applied with other bytes.
	ErrOtherBytes = errors.New("store: this consumer has applied another message with this id")
	// ErrAgain: the database ended the transaction because of another one: a deadlock, a
	// lock timeout, or a snapshot that is too old. Roll it back and run it again.
	ErrAgain = errors.New("store: the transaction met another one; roll it back and run it again")
)
