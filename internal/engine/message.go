package engine

import (
	"time"

	"github.com/postbag/postbag/broker"
)

// Message is all that the engine knows of a message.
type Message struct {
	Seq  int64
	Slot int
	// Key is the hash of its key; zero orders nothing. Of a parked message it is
	// the Hash of its row.
	Key uint64
	// Topic is where it goes.
	Topic string
	// Size is its weight in bytes.
	Size int
	// Sum is the last eight bytes of its id, for the ledger.
	Sum uint64
	// Unreadable says why the message cannot be sent, if its row cannot be read whole.
	Unreadable string
	// Filtered: passed without being sent.
	Filtered bool
	// Tag is the caller's own; it comes back in calls.
	Tag any
}

// Answer is the outcome of one message.
type Answer struct {
	Outcome broker.Outcome
	// Scope is that of a Misconfigured or Unavailable.
	Scope broker.Scope
	// After is the wait that the destination asks for.
	After time.Duration
	// Reason is kept with a parked message.
	Reason string
	// Broken: the call broke off at a message that nobody knows, such as one at which a
	// handler panicked. It says nothing of the destination. The outcome is Unknown.
	Broken bool
}
