package broker

import (
	"context"
	"errors"
)

// Transactional is implemented by a destination that stores messages and a record
// of the caller's in one transaction, and keeps out of it everybody who began
// before (Kafka: a transactional producer, with the record in a compacted topic).
// With it a relay has a consumer that reads committed messages only see each of
// them once, although relays die and wake up again; docs/design/030-exactly-once.md
// has the protocol. Features.Transactions says whether it can be used.
//
// Publish goes on working beside it, outside of transactions.
type Transactional interface {
	Destination
	// OpenLane makes the caller the only one that can commit on a lane. When it
	// returns, every transaction that was begun on the lane before, by this process
	// or another, is committed or aborted for good; and no Lane of that name that
	// was opened before can commit any more. Lane.Record is what the last of the
	// committed ones stored: a store that applies commits late is waited for.
	//
	// A lane belongs to the process that opened it last, rightly or not: only the caller
	// knows who may, and makes sure of it after OpenLane has returned.
	//
	// An error is classed with OutcomeOf, as that of Prober.Probe: Misconfigured, or
	// else Unavailable. Calls may run side by side. A lane that is open when the
	// destination is closed is finished.
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

	// Commit stores msgs, in their order for each key, and record in place of the
	// lane's last one, in one transaction, and says what became of it. msgs may be
	// empty: the record alone is stored then. record has at most MaxRecord bytes.
	//
	// Committed: every message is stored, each on a positive answer for that very
	// message; results are all Accepted. The lane goes on. In every other case it
	// is finished, as far as it was not before: each further Commit is Aborted, all
	// its results NotSent with ErrLane, and the caller opens the lane anew.
	//
	// Aborted: nothing of it is stored, and nothing will be. results says why, and
	// none is Accepted: those at fault are Rejected or Misconfigured, and no other
	// is, whatever it takes to find out; the rest is NotSent. Where no message is
	// at fault they are Unavailable.
	//
	// Unresolved, Fenced: all of it is stored, or nothing, and which of the two is
	// settled once the lane was opened anew: its Record is then this one, or still
	// the one before. results mean nothing. ctx ends the waiting: Unresolved, or
	// Aborted if nothing was sent.
	//
	// The error says why, for every outcome but Committed. Like those of results it
	// names neither payload, key, header value nor credential. Slices are kept no
	// longer than Publish keeps them.
	Commit(ctx context.Context, msgs []Delivery, record []byte, results []Result) (TxOutcome, error)

	// Close aborts what is not committed and frees what the lane holds. It waits no
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
