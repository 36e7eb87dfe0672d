package store

import (
	"context"
	"errors"
	"time"

	"github.com/postbag/postbag"
)

// Store is a database with boxes. Every method is safe for concurrent use and bounded by
// ctx. No transaction and no lock outlives the call. No method makes a writer of messages
// wait. All times are by the database's clock, and leave it as durations. After an error
// nothing is half done.
//
// If a session is on another database than the last Check accepted, every method but
// Check fails with ErrMoved before it has done anything. If it is on a standby, they fail
// with ErrStandby.
type Store interface {
	// Check verifies that a relay can work with the store: schema version, a writable
	// primary (never a standby), durability as far as it can see, identity. A relay calls
	// it when it starts and after each lost connection. ErrMoved says that the database
	// is not the one that its positions were written in. The store has then already
	// reconciled the positions so that nothing is lost. The caller drops its leases and
	// goes on.
	Check(ctx context.Context) (Info, error)

	// Declare creates the missing subscriptions, each with the shards and the start of
	// its spec. The box must exist (ErrNoBox). A subscription that exists keeps its
	// position, its shards and its filter. If a spec has another filter, the error is
	// ErrFilterDiffers, and everything else in specs is still declared. It is no error if an
	// operator has set the filter: see SubscriptionState.TypesBy. One that an operator removed
	// is left out, without an error: no View has it. Nothing is ever deleted. Concurrent calls
	// are safe.
	Declare(ctx context.Context, specs []Spec) error

	// Beat renews the caller's heartbeat and changes who owns what, in one transaction,
	// in this order. It renews the heartbeat row, or makes it if the id is new. It gives
	// back the leases in Give. It does the reshapes. It marks relays dead whose time is
	// over. Shards in Take that are free, or whose owner is dead, become the caller's,
	// with a new token.
	//
	// A row that is marked dead, or whose time is over, is never renewed: Alive is then
	// false, and nothing else was done. In-flight parked rows of a taken shard become
	// due. A shard in Take that the caller already holds stays as it is. Give compares
	// only the token. Only Beat.New makes a heartbeat row. New on a live row of the
	// caller's own renews it, so a Beat may be repeated.
	Beat(ctx context.Context, b Beat) (View, error)

	// Turn settles, then reads, in one round trip if the database allows that. Either
	// list may be empty.
	//
	// Settling. A shard appears at most once in a Turn, and a caller has one settlement
	// of a shard out at a time. Each settlement is all or nothing, and has its own
	// verdict. It is applied if token and version are the shard's, which then has
	// version+1. Otherwise it is lost; a lost one never fails the others. If the version
	// is already one behind under the same token, the settlement was applied before: it
	// changes nothing and reports Applied. So a caller whose answer got lost may repeat
	// it, as it was. All applied settlements of a call commit together.
	//
	// A position that was read and never settled is worthless after the server crashed or
	// failed over, because the server gives out transaction ids again that were not yet
	// durable. Turn then does nothing and returns ErrRestarted, from a check inside the
	// settling statement itself. The caller drops its leases, takes them again, and goes
	// on from the positions of its View.
	//
	// Reading. Along a chain of Batch.Next each committed message of the slots appears
	// exactly once, however late it commits. Per key messages come in commit order, if
	// the transactions were ordered. A read never waits for open transactions, and never
	// passes what may still appear. It needs no lease. See Request for limits.
	//
	// If one read cannot be done (a position that it cannot read, a subscription that is
	// gone), it fails alone, in Batch.Err. If the connection fails, the call fails. Its
	// settlements may be committed then, and repeating the call is safe.
	Turn(ctx context.Context, t Turn) (TurnResult, error)

	// Blocked returns the keys that have blocking parked messages in the lease's slots.
	// It also returns the topics for which messages there are held, and what waits of each
	// key. A relay calls it after each take and before the first read.
	Blocked(ctx context.Context, l Lease) (Blocks, error)

	// Due returns parked messages whose time has come, see Due. Messages come
	// with their bytes.
	Due(ctx context.Context, d Due) ([]Parked, error)

	// Maintain does some of a box's housekeeping, for at most about a second. It moves
	// scheduled messages that are due into the log, and makes room in the log. It copies
	// parked messages out of what will be dropped. It drops what every subscription has
	// passed, if ledger and log agree. It needs the lease of the box's Maintenance
	// pseudo-subscription, and does nothing if that is lost (ErrLeaseLost).
	Maintain(ctx context.Context, r Retention) (Report, error)
}

// Waker is implemented by a store that can tell a relay of new messages. A hint may be
// early, late or missing.
type Waker interface {
	// Woken returns a channel that gets a value after messages may have been committed,
	// by this process or another. It has room for one value, and is never closed. All
	// callers share it.
	Woken() <-chan struct{}
}

// Errors of a store. Each is wrapped with what was being done and what to do.
var (
	// ErrNoBox: the box does not exist.
	ErrNoBox = postbag.ErrNoBox
	// ErrNoSubscription: the subscription was never declared.
	ErrNoSubscription = errors.New("store: no such subscription; a relay that names it declares it")
	// ErrFilterDiffers: a subscription was declared with another filter.
	ErrFilterDiffers = errors.New("store: the subscription was declared with another filter; name that one, change it with postbag subscriptions set, or name another subscription")
	// ErrCursor: Query.Cursor is none that a listing ended with.
	ErrCursor = errors.New("store: the cursor is malformed; use the one of the answer before")
	// ErrRestarted: the server crashed or failed over since a position was read, or since
	// the Life of a turn.
	ErrRestarted = errors.New("store: the server was restarted since these positions were read; take the leases again")
	// ErrMoved: the database has another identity than the positions in it.
	ErrMoved = errors.New("store: the database is not the one its positions were written in")
	// ErrStandby: the server is a standby or read-only.
	ErrStandby = errors.New("store: the server is read-only; connect to the primary")
	// ErrSchema: the schema is missing, older than this program or too new.
	ErrSchema = errors.New("store: the schema does not fit; run postbag migrate up")
	// ErrDenied: the role, or account, of the connection lacks a right. The error says which
	// statements give it.
	ErrDenied = errors.New("store: a right is missing; grant it")
	// ErrLeaseLost: another relay has the lease now.
	ErrLeaseLost = errors.New("store: the lease is lost")
	// ErrSlotRule: the box was made with another rule for slots.
	ErrSlotRule = errors.New("store: a box keeps the rule for slots that it was made with; leave slots out, or make another box and publish there")
	// ErrNoNumber: a message of a box with slots by number has a key that is no number.
	ErrNoNumber = errors.New("store: the box takes slots by number, and the shard key (or the key, if there is none) is no decimal integer such as 42 or -7; " +
		"set Message.ShardKey to a number, or leave both out")
	// ErrPosition: a position is malformed or of a format this store cannot read.
	ErrPosition = errors.New("store: the position cannot be read; a newer version wrote it, or the row is damaged")
)

// Info is what Check found.
type Info struct {
	// System names the database, such as "postgresql 15.18".
	System string
	// Identity tells one life of the database from another.
	Identity string
	// Schema is the version of Postbag's schema there.
	Schema int
	// MaxMessage is the largest payload, in bytes, that the store takes.
	MaxMessage int
	// Warnings are settings that weaken a promise, each with what to do.
	Warnings []string
	// Features says what the store can do beyond the least.
	Features Features
}

// Features declares what a store can do. The conformance suite tests each in both
// directions.
type Features struct {
	// ConcurrentWriters: two transactions can be open for writing at a time, so
	// that commit order may differ from seq order.
	ConcurrentWriters bool
	// Prepared: transactions can be prepared and committed later (2PC).
	Prepared bool
	// Savepoints: a transaction can be rolled back in part.
	Savepoints bool
	// OneGroup: the store expects one owner for all shards of a subscription.
	OneGroup bool
	// Partitions: the log has partitions that Maintain adds and drops.
	Partitions bool
	// Conditions: Beat.Conditions are kept, and shown in RelayState.
	Conditions bool
	// Editing: the store takes commands for pending messages too, shows failed attempts
	// after a message was delivered or discarded, and is an Editor and a Retainer.
	Editing bool
	// HeldTopics: messages can be parked as held, Due finds them by their topic, and
	// Blocked names those topics. Without it a relay treats a failure of one topic as one
	// of the whole destination.
	HeldTopics bool
	// DeadLetters: a settlement writes dead letters, see Park.DeadTo and Spec.DeadTo.
	DeadLetters bool
	// SlotRules: the store is a SlotMigrator, and makes slots by the rule of each box.
	SlotRules bool
}

// Maintenance is the name of a pseudo-subscription that every box has. Its single shard
// is the right to maintain the box. It reads nothing.
const Maintenance = "@maintenance"

// Turn is one round of settling and reading.
type Turn struct {
	Settle []Settlement
	Read   []Request
	// Life is the TurnResult.Life under which the caller learned what it settles. In
	// another life of the database Turn does nothing, and returns ErrRestarted. A row that
	// was parked in a life that is gone could be written again otherwise. Zero: not known.
	Life int64
}

// Empty says that the turn asks for nothing, and need not be made.
func (t Turn) Empty() bool { return len(t.Settle) == 0 && len(t.Read) == 0 }

// TurnResult answers a Turn.
type TurnResult struct {
	// Verdicts[i] is the fate of Settle[i].
	Verdicts []Verdict
	// Batches[i] answers Read[i].
	Batches []Batch
	// Commands wait for slots that were read or settled: all about messages that are not
	// parked, and up to 1,000 about parked ones, oldest first. A command comes again
	// until a settlement says that it is done. Commands are read after the settlements of
	// the same Turn. The store closes a command, and does not return it, if its message
	// is gone, or if its message is not parked and the settled position of its shard has
	// passed it.
	Commands []Command
	// NextDue is the time until the next parked message is due, of the slots that were
	// read or settled. Zero: one is due now. Negative: none is parked with a time.
	NextDue time.Duration
	// Epoch changes when relays, leases, shards or subscriptions change. A relay that
	// sees a new one beats at once. Never zero.
	Epoch int64
	// Life numbers the lives of the database. It grows when a standby is promoted, which
	// can give out a lost seq again. It is the life in which the batches were read. Zero:
	// the store cannot tell.
	Life int64
}

// Verdict is the fate of a settlement.
type Verdict struct {
	// Applied: the shard's row has what the settlement says. False: the lease is lost,
	// and nothing of the settlement was written. Unless More is true.
	Applied bool
	// More: the lease stands, and the settlement is not applied yet. It superseded as many rows
	// as one may, and there are more, see Settlement.Supersede. The caller makes it again as it
	// is, with the same version.
	More bool
	// Cleared are hashes of keys that have no blocking parked message left in the shard,
	// among those of the rows that the settlement parked or resolved. A repeated
	// settlement returns them too.
	Cleared []uint64
	// Letters says why dead letters of the settlement were not written, although it is
	// applied. A notice of the box says so too. Nil: all were written.
	Letters error
	// Superseded is how many rows were superseded now. Zero if an applied settlement is repeated.
	Superseded int64
	// Waiting is what waits of the keys that the settlement named in Supersede, now. A
	// repeated settlement returns it too.
	Waiting []Waiting
}
