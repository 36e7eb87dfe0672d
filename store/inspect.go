package store

import (
	"context"
	"time"

	"github.com/postbag/postbag"
)

// Inspector is implemented by a store that can show what it holds. It is for
// people: no relay needs it. Every answer is bounded and needs no lease.
type Inspector interface {
	// Overview returns all boxes with their subscriptions and relays.
	Overview(ctx context.Context) (Overview, error)
	// List returns messages of a box that match q, at most q.Limit, newest first
	// unless q.Oldest, and a cursor to go on with, empty at the end. A search
	// that has looked at a bounded number of rows returns what it has and a
	// cursor.
	List(ctx context.Context, q Query) ([]Item, string, error)
	// Show returns all copies of one message that the box knows: one a
	// subscription, or one scheduled. None: an empty slice.
	Show(ctx context.Context, box string, id postbag.ID) ([]Item, error)
}

// Operator is implemented by a store that takes operators' orders. Every change
// is written to the audit log with who and why, in the same transaction.
type Operator interface {
	// Command queues kind for parked messages, and returns how many it was
	// queued for. Seqs that are not parked are passed over; one that has the
	// same command queued is not queued again.
	Command(ctx context.Context, a Audit, r Ref, kind CommandKind, seqs []int64) (int, error)
	// SetShards asks for n shards. Relays carry it out.
	SetShards(ctx context.Context, a Audit, r Ref, n int) error
	// Audited returns the latest entries of the audit log, newest first.
	Audited(ctx context.Context, limit int) ([]AuditEntry, error)
}

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

// Audit says who orders and why. Both are required.
type Audit struct{ Who, Why string }

// AuditEntry is one line of the audit log.
type AuditEntry struct {
	At time.Time
	Audit
	// What was ordered, on what, such as "discard outbox/default 17".
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
	Scheduled     int64
	Subscriptions []SubscriptionView
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
	// Parked counts by state.
	Parked map[ParkState]int64
	// Commands is how many wait for an owner.
	Commands int64
}

// State is what became of a message for a subscription, as people see it.
type State string

// The states of a message.
const (
	Pending   State = "pending"
	Retrying  State = "retrying"
	Waits     State = "blocked"
	Sending   State = "in flight"
	Died      State = "dead"
	Delivered State = "delivered"
	Discarded State = "discarded"
	Filtered  State = "filtered"
	Scheduled State = "scheduled"
)

// Query selects messages. Zero fields select everything.
type Query struct {
	Ref
	// State is one state. Retrying, Waits, Sending and Died read the parked rows
	// only, by an index; the others read the log.
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
	// History are the latest attempts, oldest first; only Show fills it.
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
