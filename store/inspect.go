package store

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/postbag/postbag"
)

// Inspector is implemented by a store that can show what it holds. It is for people: no
// relay needs it. The size of every answer is bounded, and no method needs a lease.
type Inspector interface {
	// Overview returns all boxes with their subscriptions and relays. A shard whose
	// owner's heartbeat is over is shown as free.
	Overview(ctx context.Context) (Overview, error)
	// List returns messages of a box that match q, at most q.Limit, newest first unless
	// q.Oldest. It also returns a cursor to go on with, which is empty at the end. A
	// search looks at a bounded number of rows, and stops at about 16 MiB. It then
	// returns what it has found, and a cursor.
	List(ctx context.Context, q Query) ([]Item, string, error)
	// Show returns all copies of one message that the box knows: one per subscription, or
	// one that is scheduled. If there is none, the slice is empty. Of an id that was published
	// again much later, it may return the first ones alone.
	Show(ctx context.Context, box string, id postbag.ID) ([]Item, error)
}

// Operator is implemented by a store that takes commands of operators. It writes every
// change to the audit log, with who and why, in the same transaction.
type Operator interface {
	// Command queues kind for parked and pending messages, and returns for how many. It
	// skips seqs that are in no row of the box, seqs whose fate is settled, and Retry of
	// a pending message. It does not queue the same command for a message twice. At most
	// MaxPendingCommands of a subscription can wait for pending messages. If there would
	// be more, the error is ErrTooManyCommands, and nothing is queued.
	Command(ctx context.Context, a Audit, r Ref, kind CommandKind, seqs []int64) (int, error)
	// SetShards asks for n shards. Relays carry it out.
	SetShards(ctx context.Context, a Audit, r Ref, n int) error
	// SetPaused holds a subscription, or lets it go on. Relays hear of it at their next
	// heartbeat, which is soon: the epoch changes. While it is held they keep its shards and
	// settle what was sent, and send and read nothing. It may be said again. In a [Pauser]
	// it is a pause of the whole subscription without an end, or the end of that.
	SetPaused(ctx context.Context, a Audit, r Ref, paused bool) error
	// Audited returns the latest entries of the audit log, newest first.
	Audited(ctx context.Context, limit int) ([]AuditEntry, error)
}

// Editor is implemented by a store whose messages and ledger operators can change. It
// writes every change to the audit log, with who and why, in the same transaction.
type Editor interface {
	// Scheduled changes scheduled messages of a box, by their ids, in one
	// transaction, and returns how many it changed: Retry makes them due now,
	// Discard removes them.
	Scheduled(ctx context.Context, a Audit, box string, kind CommandKind, ids []postbag.ID) (int, error)
	// Erase overwrites payload, headers and key of messages with nothing, in the log and
	// in all other places where the store keeps them. It returns how many it found. Their
	// ids, topics and types stay, and so does the ledger. From then on ErasedHeader is their
	// one header, and who reads them again gets them as Filtered. It does not erase a message
	// that is still to be delivered: the answer has it in Refused; discard it first. Nor does it
	// erase one that a subscription has not passed, although its filter refuses it: a filter can
	// change, and may take it then.
	Erase(ctx context.Context, a Audit, box string, ids []postbag.ID) (Erased, error)
	// AcceptLedger lets retention go on over the spans of a box in which ledger and log
	// differ now. It returns what it accepted, one line each. If there is no difference,
	// the slice is empty. It ends the box's notices.
	AcceptLedger(ctx context.Context, a Audit, box string) ([]string, error)
}

// Erased is what Erase did.
type Erased struct {
	// Messages is how many were overwritten; Refused are ids of those that are still
	// to be delivered.
	Messages int
	Refused  []postbag.ID
}

// MaxPendingCommands is how many commands of a subscription can wait for pending
// messages.
const MaxPendingCommands = 500

// ErrTooManyCommands says that more than MaxPendingCommands would wait for pending
// messages.
var ErrTooManyCommands = errors.New("store: more than 500 commands would wait for pending messages; discard fewer, or wait until a relay has carried some out")

// Migrator is implemented by a store that makes its own schema.
type Migrator interface {
	// Migrate brings the schema up to date, and returns the names of the steps that it
	// took. You can run it again at any time, and several times at once.
	Migrate(ctx context.Context) ([]string, error)
	// Pending returns the version of the schema in the database, and the steps that are
	// missing.
	Pending(ctx context.Context) (version int, steps []Step, err error)
	// CreateBox makes a box. One that exists is left as it is.
	CreateBox(ctx context.Context, box string) error
}

// SlotMigrator is a Migrator whose boxes can have slots by number.
type SlotMigrator interface {
	Migrator

	// CreateBoxBy is CreateBox for a box whose slots are made by a rule. ErrSlotRule: the box
	// exists with another rule. "": the rule of the box that exists, and for a new one
	// SlotsByHash.
	CreateBoxBy(ctx context.Context, box string, by SlotRule) error
	// SlotRule returns the rule of a box. ErrNoBox: there is none.
	SlotRule(ctx context.Context, box string) (SlotRule, error)
}

// Step is one migration. SQL is all of it: run it in one transaction, with any tool, and
// the step is taken.
type Step struct {
	Version int
	Name    string
	SQL     string
}

// Audit says who gives a command and why. Both are required.
type Audit struct {
	Who, Why string
	// Filter is what selected the messages, such as "--error refused". The audit log
	// keeps it at the end of AuditEntry.What. Empty: the messages were named.
	Filter string
}

// AuditEntry is one line of the audit log.
type AuditEntry struct {
	At time.Time
	Audit
	// What is the command and its messages, such as "discard outbox/default 17 (orders,
	// 0190a1b2-...)". Of many messages the first 20 are named, and the rest are counted.
	What string
}

// Overview is the state of a store.
type Overview struct {
	Now    time.Time
	Boxes  []BoxView
	Relays []RelayState
	// Pauses are all that are in force, if the store is a Pauser, oldest first.
	Pauses []Pause
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
	// Retention is what the box holds of it. Nil where the store is no Retainer.
	Retention *BoxRetention
	// Removed are those that an operator removed, by name.
	Removed []Removed
	// Notices are events of the box that people should know, newest first.
	Notices []Notice
}

// Notice is something that the store did by itself. For example, it looked through a box
// again whose numbering was begun again, or kept messages because ledger and log differ.
// A notice is an entry of the audit log, in which Who is "postbag". It stays for a day,
// among the latest 1,000 entries, or until an operator accepts the ledger of the box.
type Notice struct {
	// Ago is how long ago it was.
	Ago time.Duration
	// What was done, and Why.
	What, Why string
}

// SubscriptionView is the state of a subscription.
type SubscriptionView struct {
	SubscriptionState
	// Made is when it was declared. Begun is the seq up to which it did not read then, or
	// about that: it began behind it. Zero: with the first message.
	Made  time.Time
	Begun int64
	// WantedBy is who asked for its number of shards with a command. Empty: it has as many as
	// it was declared with.
	WantedBy string
	// Replay is what the replay sends again. Nil: this is no replay.
	Replay *Replay
	// Backlog is about how many messages are beyond its positions.
	Backlog int64
	// Oldest is the age of the oldest message beyond its positions; zero: none.
	Oldest time.Duration
	// Delivered, Discarded and Superseded count since the beginning. Filtered is counted for
	// replays only.
	Delivered, Discarded, Filtered, Superseded int64
	// Parked counts by state, up to CountedParked. A count of CountedParked means "at
	// least".
	Parked map[ParkState]int64
	// Held are the topics that do not work, at most 20, those with most messages first.
	// Where messages are held by a pause, Topic is its Pause.HeldAs.
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
	StatePending   State = "pending" // not passed, and its filter takes it
	StateRetrying  State = "retrying"
	StateBlocked   State = "blocked"
	StateInFlight  State = "in-flight"
	StateDead      State = "dead"
	StateHeld      State = "held"
	StateDelivered State = "delivered"
	StateDiscarded State = "discarded"
	StateFiltered  State = "filtered" // its filter refuses it, passed or not
	StateScheduled State = "scheduled"
	// StateSuperseded: it was rejected, and ended when a newer message of its key was
	// delivered. Item.Reason says which.
	StateSuperseded State = "superseded"
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
	// Types are more of them: a message has Type or one of these. Empty texts say nothing.
	Types []string
	// After and Before bound when the message was stored.
	After, Before time.Time
	// Error is contained in the last error, whatever its case.
	Error string
	// Oldest: oldest first.
	Oldest bool
	// Bare leaves out headers and payloads. Who only counts needs none, and a page is then not
	// ended by their size.
	Bare bool
	// Limit is the most to return. Zero: 50. At most 1,000.
	Limit int
	// Cursor goes on where an earlier answer ended.
	Cursor string
}

// AllTypes returns Type and Types without empty texts. Empty: all types are asked for.
func (q *Query) AllTypes() []string {
	return slices.DeleteFunc(append([]string{q.Type}, q.Types...), func(t string) bool { return t == "" })
}

// Item is one message of one subscription.
type Item struct {
	Record
	Subscription string
	State        State
	Attempts     int
	// Due is the time until the next attempt, or until a scheduled message is due.
	// Negative or zero: now, or never.
	Due    time.Duration
	Reason string
	// History are the latest 20 attempts, oldest first. What only postponed the message, such
	// as a destination that was away, is in Reason alone. Only Show fills it. If a message had
	// an error, Attempts, Reason and History stay after it was delivered or discarded, as
	// long as it is in the log.
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
