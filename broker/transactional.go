package broker

import (
	"context"
	"errors"
)

// Transactional is implemented by a destination that stores messages and a record of the
// caller's in one transaction, and shuts out everybody who began earlier. (Kafka: a
// transactional producer, with the record in a compacted topic.) With it a consumer that
// reads committed messages only sees each of them once, although relays die and wake up
// again. docs/design/030-exactly-once.md has the protocol. Features.Transactions says
// whether it can be used.
//
// Publish works beside it, outside of transactions.
type Transactional interface {
	Destination
	// OpenLane makes the caller the only one that can commit on a lane. When it returns,
	// every earlier transaction of the lane, by this process or another, is committed or
	// aborted for good. No Lane of that name that was opened earlier can commit any more.
	// Lane.Record is what the last committed transaction stored. If the destination
	// applies commits late, OpenLane waits for that.
	//
	// A lane belongs to the process that opened it last, rightly or not. Only the caller
	// knows which process may, and checks it after OpenLane has returned.
	//
	// OutcomeOf says what an error means, as for Prober.Probe: Misconfigured, or else
	// Unavailable. Calls may run side by side. When the destination is closed, its open
	// lanes are finished.
	OpenLane(ctx context.Context, name LaneName) (Lane, error)
}

// LaneName names a lane: the messages of a subscription that one relay sends in
// one transaction after another.
type LaneName struct{ Box, Subscription, Lane string }

// String returns "postbag/box/subscription/lane": Kafka's transactional id, and the
// key of the lane's record.
func (n LaneName) String() string {
	return "postbag/" + n.Box + "/" + n.Subscription + "/" + n.Lane
}

// Lane is a lane that its caller opened. It is used by one goroutine at a time.
type Lane interface {
	// Record returns what the last committed transaction of the lane stored beside
	// its messages, as of OpenLane; nil if there was none. It does no I/O.
	Record() []byte

	// Commit stores msgs, in their order for each key, and record in place of the lane's
	// last one, in one transaction. It returns what became of the transaction. If msgs is
	// empty, it stores only the record. record has at most MaxRecord bytes.
	//
	// Committed: every message is stored, with a positive answer for each, and all
	// results are Accepted. The lane goes on. In every other case it is finished: each
	// further Commit is Aborted, all its results are NotSent with ErrLane, and the caller
	// has to open the lane again.
	//
	// Aborted: nothing of it is stored, and nothing will be. results says why, and none
	// is Accepted. Those at fault are Rejected or Misconfigured, and no other is,
	// whatever it takes to find out. The rest is NotSent. If no message is at fault, all
	// are Unavailable.
	//
	// Unresolved, Fenced: all of it is stored, or nothing. To find out which, open the
	// lane again: its Record is then this one, or still the one before. results mean
	// nothing. If ctx ends, the outcome is Unresolved, or Aborted if nothing was sent.
	//
	// The error says why, for every outcome but Committed. Like those of results it
	// quotes no payload, key, header value or credential. Commit keeps slices no longer
	// than Publish does.
	Commit(ctx context.Context, msgs []Delivery, record []byte, results []Result) (TxOutcome, error)

	// Close aborts what is not committed, and frees what the lane holds. It waits no
	// longer than ctx. The record stays. Calling it twice is harmless.
	Close(ctx context.Context) error
}

// TxOutcome is what became of a transaction.
type TxOutcome int

const (
	// Unresolved: the answer is lost. The zero value.
	Unresolved TxOutcome = iota
	// Committed: all of it is stored.
	Committed
	// Aborted: nothing of it is stored or will be.
	Aborted
	// Fenced is Unresolved, because somebody opened the lane later.
	Fenced
)

// String returns the outcome's name in lower case.
func (o TxOutcome) String() string {
	switch o {
	case Unresolved:
		return "unresolved"
	case Committed:
		return "committed"
	case Aborted:
		return "aborted"
	case Fenced:
		return "fenced"
	}
	return "unknown"
}

// MaxRecord is the most bytes that a lane's record may have.
const MaxRecord = 512 << 10

// ErrLane is the error of a Commit on a lane that is finished.
var ErrLane = errors.New("broker: the lane is finished; open it again")
