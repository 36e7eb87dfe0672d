package sqlkit

import (
	"strings"
	"time"

	"github.com/postbag/postbag/store"
	"github.com/postbag/postbag/store/storekit"
)

// Dialect is what a database has of its own. It does not change once it is made.
type Dialect struct {
	Statements

	// Package is the name of the store's package, with which errors begin.
	Package string
	// Translate wraps an error with what failed and what to do about it, by [Tell].
	Translate func(doing string, err error) error
	// Position reads a position of the store.
	Position func(store.Position) (Passed, error)
	// Last returns the highest seq of a box, zero if none.
	Last func(query Querier, box string) (int64, error)
	// ClockStep is how much older than it says a row may be, as far as the
	// database's clock is coarser than a microsecond.
	ClockStep time.Duration

	// Table returns the name of a box's table, quoted. The name of a box is
	// letters, digits and underscores.
	Table func(box string) string
	// Messages leaves out rows of the log that are no messages: a condition with AND
	// before it. Empty: there are none.
	Messages string
	// Lock stands behind a SELECT whose rows must not change until the transaction
	// ends; empty where nobody else writes meanwhile.
	Lock string
	// Shards is how many a subscription has if nothing is said.
	Shards int
	// AddTallies adds sums to the ledger.
	AddTallies func(t *Tx, sums storekit.Tallies) error
	// Blank overwrites payload, headers and key of a row of a box's log with nothing,
	// and its shard key with another one.
	Blank func(t *Tx, box string, seq int64, shardKey string) error
	// Chains is how many chains may stand in one statement; Head as many times, with
	// UNION ALL between.
	Chains int
}

// In returns a statement on the table of a box.
func (d *Dialect) In(box, text string) string {
	return strings.NewReplacer("{box}", d.Table(box), "{messages}", d.Messages).Replace(text)
}

// Statements are those in which databases differ. Of each is said what it asks
// with which arguments, in this order, and what columns it returns; {box} is the
// table of a box, {messages} what Dialect.Messages says.
type Statements struct {
	// Head returns chain, seq, state, due and ready of the first row of a chain:
	// subscription, chain, lo, hi.
	Head string
	// Heads returns the same of all rows of some chains, in the order of chain and seq:
	// subscription, {list} of chains, lo, hi, limit. Empty: Head is as fast.
	Heads string
	// Demote takes the time from rows that are not the first of their chains:
	// subscription, chains, seqs of the first ones, lo, hi. {list} is that of either.
	Demote string
	// InsertRelay adds a heartbeat row, unless there is one: id, name, works,
	// expires, conditions.
	InsertRelay string
	// Command queues a command for a parked message, unless it is queued: kind,
	// subscription, seq.
	Command string
	// CommandPending queues a command for a message that is not parked, unless it is
	// queued: subscription, seq, kind, subscription, seq.
	CommandPending string
	// CountPending counts the commands for messages that are not parked: subscription.
	CountPending string
	// Pending returns id, kind and seq of what waits for a subscription about
	// messages that were not parked when the command was given, in sequence, with slot, hash,
	// state, whether it blocks, attempts, due, reason and topic of the parked row,
	// zeros if there is none, and the message's id, key and shard key, null if it is
	// gone: subscription.
	Pending string
	// NoteFloor notes up to where all had passed everything, unless it is noted: box,
	// seq, at.
	NoteFloor string
	// Due returns seq, slot, ready and chain of rows that may be tried, in the order
	// of (ready, seq), from behind one: subscription, now, its ready, its ready once
	// more, its seq, limit.
	Due string
	// NextReady returns slot and ready of rows that may be tried, in the order of
	// ready: subscription.
	NextReady string
	// Commands returns id and kind of what waits for a subscription about messages
	// that were parked when the command was given, in sequence, with its message's seq, slot,
	// hash, state, whether it blocks, attempts, due, reason, topic and id:
	// subscription.
	Commands string
	// Held returns seq, slot and chain of the rows that are held for a topic, in order,
	// from behind a seq: subscription, topic, seq, limit.
	Held string
	// Followers returns seq and state of a chain behind a seq, in order:
	// subscription, chain, seq, lo, hi, limit.
	Followers string
	// StateUp and StateDown return the seqs of parked rows of a state from one on, in
	// either order: subscription, state, seq, limit.
	StateUp, StateDown string
	// ScheduledUp and ScheduledDown return a box's scheduled messages from a number
	// on, in either order, as sqlScheduledID does, but without headers and payload:
	// number, box, limit.
	ScheduledUp, ScheduledDown string
	// Slots returns seq, id, at and slot of messages of a range of the log, in
	// order: after, to, limit. Empty: the log has no column slot, and it is worked
	// out of key and id.
	Slots string
}
