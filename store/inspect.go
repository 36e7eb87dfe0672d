package store

import (
	"context"
	"errors"
	"time"

	"github.com/postbag/postbag"
)

// Inspector is implemented by a store that can show what it holds. It is for
// people: no relay needs it. Every answer is bounded and needs no lease.
type Inspector interface {
	// Overview returns all boxes with their subscriptions and relays. A shard whose
	// owner's heartbeat is over is shown as free.
	Overview(ctx context.Context) (Overview, error)
	// List returns messages of a box that match q, at most q.Limit, newest first
	// unless q.Oldest, and a cursor to go on with, empty at the end. A search
	// that has looked at a bounded number of rows, or has found about 16 MiB,
	// returns what it has and a cursor.
	List(ctx context.Context, q Query) ([]Item, string, error)
	// Show returns all copies of one message that the box knows: one a
	// subscription, or one scheduled. None: an empty slice.
	Show(ctx context.Context, box string, id postbag.ID) ([]Item, error)
}

// Operator is implemented by a store that takes operators' commands. Every change
// is written to the audit log with who and why, in the same transaction.
type Operator interface {
	// Command queues kind for parked and pending messages, and returns how many it
	// was queued for. Seqs that are in no row of the box are passed over, as are
	// those whose fate is settled; one that has the same command queued is not
	// queued again. At most MaxPendingCommands of a subscription can wait for
	// pending messages: more is ErrTooManyCommands, and nothing is queued. Retry of
	// a pending message is passed over.
	Command(ctx context.Context, a Audit, r Ref, kind CommandKind, seqs []int64) (int, error)
	// SetShards asks for n shards. Relays carry it out.
	SetShards(ctx context.Context, a Audit, r Ref, n int) error
	// Audited returns the latest entries of the audit log, newest first.
	Audited(ctx context.Context, limit int) ([]AuditEntry, error)
}

// Editor is implemented by a store whose messages and ledger operators can change.
// Every change is written to the audit log with who and why, in the same
// transaction.
type Editor interface {
	// Scheduled changes scheduled messages of a box, by their ids, in one
	// transaction, and returns how many it changed: Retry makes them due now,
	// Discard removes them.
	Scheduled(ctx context.Context, a Audit, box string, kind CommandKind, ids []postbag.ID) (int, error)
	// Erase overwrites payload, headers and key of messages with nothing, in the log
	// and wherever else the store keeps them, and returns how many it found. Their
	// ids, topics and types stay, so does the ledger. A message that is still to be
	// delivered is not erased: it is in Refused of the answer; discard it first.
	Erase(ctx context.Context, a Audit, box string, ids []postbag.ID) (Erased, error)
	// AcceptLedger has retention go on over the spans of a box in which the ledger
	// and the log differ now, and returns what it accepted, a line each. None: an
	// empty slice. The box's notices are over by that.
	AcceptLedger(ctx context.Context, a Audit, box string) ([]string, error)
}

// Erased is what Erase did.
type Erased struct {
	// Messages is how many were overwritten; Refused are ids of those that are still
	// to be delivered.
	Messages int
	Refused  []postbag.ID
}

// MaxPendingCommands bounds the commands of a subscription that wait for pending
// messages.
const MaxPendingCommands = 500

// ErrTooManyCommands says that more commands would wait for pending messages than may.
var ErrTooManyCommands = errors.New("store: more than 500 commands would wait for pending messages; discard fewer, or wait until a relay has carried some out")

// Migrator is implemented by a store that makes its own schema.
type Migrator interface {
	// Migrate brings the schema up to date and returns the names of the steps it
	// took. It can be run again at any time, by several at once.
	Migrate(ctx context.Context) ([]string, error)
	// Pending returns the schema's version there and the steps still missing.
	Pending(ctx context.Context) (version int, steps []Step, err error)
	// CreateBox makes a box. One that exists is left as it is.
	CreateBox(ctx context.Context, box string) error
}

// Step is one migration. SQL is the whole of it: who runs it in one transaction,
// with whatever tool, has taken the step.
type Step struct {
	Version int
	Name    string
	SQL     string
}

// Audit says who gives a command and why. Both are required.
type Audit struct {
	Who, Why string
	// Filter is what selected the messages, for the audit log to keep at the end of
	// AuditEntry.What, such as "--error refused". Empty: they were named.
	Filter string
}

// AuditEntry is one line of the audit log.
type AuditEntry struct {
	At time.Time
	Audit
	// What was commanded, for what, such as "discard outbox/default 17 (orders,
	// 0190a1b2-...)". Of many messages the first 20 are named, and the rest counted.
	What string
}

// Overview is the state of a store.
type Overview struct {
	Now    time.Time
	Boxes  []BoxView
	Relays []RelayState
}

// BoxView is the state of a box.
type BoxView struct {
	Name string
	// Rows is about how many messages the log holds; Last is the highest seq.
	Rows, Last int64
	// Scheduled is how many messages wait for their time.
	Scheduled int64
	// Missing: somebody dropped the box's table. Nothing else is known of the box.
	Missing       bool
	Subscriptions []SubscriptionView
	// Notices are what happened to the box that people should know, newest first.
	Notices []Notice
}

// Notice is something that the store did of its own accord, such as to look through
// a box again whose numbering was begun again, or to keep messages of which the ledger
// does not agree. It is made of the audit log, in which
// Who is "postbag": it stays for a day, among the latest 1,000 entries, or until an
// operator accepts the ledger of the box.
type Notice struct {
	// Ago is how long ago it was.
	Ago time.Duration
	// What was done, and Why.
	What, Why string
}

// SubscriptionView is the state of a subscription.
type SubscriptionView struct {
	SubscriptionState
	Types []string
	// Backlog is about how many messages are beyond its positions.
	Backlog int64
	// Oldest is the age of the oldest message beyond its positions; zero: none.
	Oldest time.Duration
	// Delivered and Discarded count since the beginning.
	Delivered, Discarded int64
	// Parked counts by state, exactly or, beyond CountedParked, that number: Parked
	// says "at least" then.
	Parked map[ParkState]int64
	// Held are the topics that do not work, those with most messages first, at most
	// 20.
	Held []HeldTopic
	// Commands is how many wait for an owner.
	Commands int64
}

// CountedParked is the most that SubscriptionView.Parked counts of a state.
const CountedParked = 1_000_000

// State is what became of a message for a subscription, as people see it.
type State string

// The states of a message.
const (
	StatePending   State = "pending"
	StateRetrying  State = "retrying"
	StateBlocked   State = "blocked"
	StateInFlight  State = "in-flight"
	StateDead      State = "dead"
	StateHeld      State = "held"
	StateDelivered State = "delivered"
	StateDiscarded State = "discarded"
	StateFiltered  State = "filtered"
	StateScheduled State = "scheduled"
)

// Query selects messages. Zero fields select everything.
type Query struct {
	Ref
	// State is one state. StateRetrying, StateBlocked, StateInFlight, StateDead and
	// StateHeld read the parked rows only, by an index; the others read the log.
	State State
	ID    postbag.ID
	// Topic and Key are exact; Type is exact or a prefix followed by ".*".
	Topic, Key, Type string
	// After and Before bound when the message was stored.
	After, Before time.Time
	// Error is contained in the last error, whatever its case.
	Error string
	// Oldest: oldest first.
	Oldest bool
	// Limit is the most to return. Zero: 50. At most 1,000.
	Limit int
	// Cursor goes on where an earlier answer ended.
	Cursor string
}

// Item is one message of one subscription.
type Item struct {
	Record
	Subscription string
	State        State
	Attempts     int
	// Due is how long until the next attempt, or until a scheduled message is
	// due. Negative or zero: now, or not at all.
	Due    time.Duration
	Reason string
	// History are the latest attempts, oldest first; only Show fills it. Attempts,
	// Reason and History of a message that had an error stay after it was delivered
	// or discarded, as long as it is in the log.
	History []Attempt
	// Queued is the command that waits for this message, zero if none.
	Queued CommandKind
}

// Attempt is one entry of a parked message's history.
type Attempt struct {
	At     time.Time
	State  ParkState
	Reason string
}
