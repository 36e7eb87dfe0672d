package sqlkit

import (
	"strings"
	"time"

	"github.com/postbag/postbag"
	"github.com/postbag/postbag/store"
	"github.com/postbag/postbag/store/storekit"
)

// Dialect is what differs from database to database. It does not change once it is made.
type Dialect struct {
	Statements

	// Package is the name of the store's package. Errors begin with it.
	Package string
	// Translate wraps an error with what failed and what to do about it, by [Tell].
	Translate func(doing string, err error) error
	// Position reads a position of the store.
	Position func(store.Position) (Passed, error)
	// Last returns the highest seq of a box, zero if none.
	Last func(query Querier, box string) (int64, error)
	// ClockStep is how much older a row may be than its time says, because the
	// database's clock is coarser than a microsecond.
	ClockStep time.Duration

	// Table returns the name of a box's table, quoted. The name of a box is
	// letters, digits and underscores.
	Table func(box string) string
	// Messages is a condition, with AND before it, that leaves out rows of the log that
	// are no messages. Empty: there are no such rows.
	Messages string
	// Lock goes behind a SELECT whose rows must not change until the transaction ends.
	// It is empty where nobody else can write meanwhile.
	Lock string
	// Shards is the default number of shards of a subscription.
	Shards int
	// AddTallies adds sums to the ledger.
	AddTallies func(t *Tx, sums storekit.Tallies) error
	// Blank overwrites payload, headers and key of a row of a box's log with nothing,
	// and its shard key with another one.
	Blank func(t *Tx, box string, seq int64, shardKey string) error
	// ForgetMarks deletes the marks of a consumer behind one id and up to another that
	// were made before a time, and returns how many. It leaves out those that somebody has
	// locked, and locks no others. The id behind which it begins may be nil.
	ForgetMarks func(t *Tx, consumer, after, upto []byte, before int64) (int64, error)
	// WriteLetter adds a dead letter to the log of its box, and copies the payload of the
	// message there.
	WriteLetter func(t *Tx, l Letter) error
	// Refused says whether the database refuses what one statement asks for, each time, and
	// the transaction goes on: a table or a right is missing, a row breaks a constraint.
	Refused func(err error) bool
	// Chains is how many chains one statement may have: it is Head that many times,
	// with UNION ALL between.
	Chains int
}

// Letter is a dead letter, but for its payload, with its headers as they are stored. The
// payload is that of a message of the box From.
type Letter struct {
	*postbag.Message

	Headers, From, To string
	Seq               int64
}

// In returns a statement on the table of a box.
func (d *Dialect) In(box, text string) string {
	name := box
	if postbag.ValidBox(box) != nil {
		name = "" // there is no such box
	}
	return strings.NewReplacer("{box}", d.Table(box), "{name}", name, "{messages}", d.Messages).Replace(text)
}

// Statements are the statements in which databases differ. Each comment says what the
// statement returns or does, and after the colon its arguments in sequence. {box} is the
// table of a box, {messages} is Dialect.Messages.
type Statements struct {
	// Head returns chain, seq, state, due and ready of the first row of a chain:
	// subscription, chain, lo, hi.
	Head string
	// Heads returns the same for all rows of some chains, by chain and seq:
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
	// Pending returns the commands of a subscription about messages that were not parked
	// when the command was given, in sequence: id, kind and seq; then slot, hash, state,
	// whether it blocks, attempts, due, reason and topic of the parked row, zeros if there
	// is none; then the message's id, key, shard key and topic, null or empty if it is gone, and
	// the rule for slots of {name}, the box: subscription.
	Pending string
	// NoteFloor notes the seq up to which all subscriptions had passed everything, unless
	// it is noted already: box, seq, at.
	NoteFloor string
	// Due returns seq, slot, ready and chain of rows that may be tried, in the order
	// of (ready, seq), from behind one: subscription, now, its ready, its ready once
	// more, its seq, limit.
	Due string
	// WaitingBelow returns seq, attempts and history of the first rows of a hash that wait and have a lower seq, in
	// sequence: subscription, hash, seq, lo, hi, limit.
	WaitingBelow string
	// NextReady returns slot and ready of rows that may be tried, in the order of
	// ready: subscription.
	NextReady string
	// Commands returns the commands of a subscription about messages that were parked when
	// the command was given, in sequence: id and kind, and the message's seq, slot, hash,
	// state, whether it blocks, attempts, due, reason, topic and id: subscription.
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
	// KeyUp and KeyDown are the same of a key: subscription, hash, state, seq, limit. Empty: no
	// index leads there, and a listing by key walks those of the state.
	KeyUp, KeyDown string
	// KeyAt returns the seq of the row of a hash that so many come before, if there is one: subscription, hash, how many. Needed with
	// KeyUp.
	KeyAt string
	// Dead returns seq and due of the rows that are dead, by seq, from behind one; due is
	// when the row was written: subscription, seq, limit.
	Dead string
	// ScheduledBox returns the first name, of those of a box or not, that scheduled
	// messages are for, from one on, and null if there is none: the name as bytes.
	ScheduledBox string
	// ScheduledUp and ScheduledDown return a box's scheduled messages from a number
	// on, in either order, as sqlScheduledID does, but without headers and payload:
	// number, box, limit.
	ScheduledUp, ScheduledDown string
	// MayWriteLetters writes no row into the log of a box, and fails without the right to
	// write one. Empty: there are no rights.
	MayWriteLetters string
	// Slots returns seq, id, at and slot of messages of a range of the log, by seq:
	// after, to, limit. Empty: the log has no column slot, and the slot is computed from
	// key and id.
	Slots string
}
