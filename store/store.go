package store

import (
	"context"
	"errors"
	"time"

	"github.com/postbag/postbag"
)

// Store is a database with boxes. Every method is safe for concurrent use and
// bounded by ctx; no transaction and no lock outlives it; none of them makes a
// writer of messages wait. All times are by the database's clock and leave it
// as durations. An error leaves nothing half done.
//
// A session that turns out to be on another database than the last Check
// accepted, or on a standby, makes every method but Check fail with ErrMoved or
// ErrStandby before it has done anything.
type Store interface {
	// Check verifies that the store can be worked with: schema version, a
	// writable primary (never a standby), durability it can see, identity. A
	// relay calls it at start and after each lost connection. ErrMoved says
	// that the database is another one than its positions were written in; the
	// store has by then reconciled them so that nothing is lost, and the caller
	// drops its leases and goes on.
	Check(ctx context.Context) (Info, error)

	// Declare creates the subscriptions that are missing, each with the shards
	// and the start its spec says; the box must exist (ErrNoBox). A subscription
	// that exists keeps its position, its shards and its filter; another filter
	// than the one it has is ErrFilterDiffers, and everything else in specs is
	// still declared. Nothing is ever deleted. Concurrent calls are safe.
	Declare(ctx context.Context, specs []Spec) error

	// Beat renews the caller's heartbeat and changes who owns what, in one
	// transaction, in this order: the row is renewed (or made, when the id is
	// new); leases in Give are given back; reshapes are done; relays whose time
	// is over are marked dead; shards in Take that are free, or whose owner is
	// dead, become the caller's with a new token. A row that is marked dead, or
	// whose time is over, is never renewed: the answer is then Alive false, and
	// nothing else was done. In-flight parked rows of a taken shard become due.
	// A shard in Take that the caller holds already stays as it is; Give looks at
	// the token only. A heartbeat row is made only with Beat.New, and New on a
	// live row of the caller's own renews it: a Beat may be repeated.
	Beat(ctx context.Context, b Beat) (View, error)

	// Turn settles, then reads, in one round trip where the database allows;
	// either list may be empty.
	//
	// Settling: a shard appears at most once in a Turn, and a caller has one
	// settlement of a shard out at a time. Each is all or nothing, judged by its own verdict:
	// it is applied if token and version are the shard's (which then has
	// version+1), and Lost otherwise; a lost one never fails the others. A
	// settlement whose version is already one behind under the same token was
	// applied before: it changes nothing and reports Applied, so that a caller
	// whose answer got lost may repeat it, as it was. All applied settlements of
	// a call commit together.
	//
	// A position that was read and never settled is worthless after the server
	// crashed or failed over, since transaction ids that were not yet durable
	// are given out again: then Turn does nothing and answers ErrRestarted, from
	// a check inside the settling statement itself. The caller drops its leases,
	// takes them again, and goes on from the positions of its View.
	//
	// Reading: along a chain of Batch.Next each committed message of the slots
	// appears exactly once, in commit order per key where the transactions were
	// ordered, however late it commits; a read never waits for open
	// transactions and never passes what may still appear. It needs no lease.
	// See Request for limits. A read that fails for a reason of its own (a
	// position it cannot read, a subscription that is gone) fails alone, in
	// Batch.Err; when the connection fails, the call does, although its
	// settlements may stand, and repeating it is safe.
	Turn(ctx context.Context, t Turn) (TurnResult, error)

	// Blocked returns the keys that have blocking parked messages in the lease's
	// slots, and the topics that messages there are held for. A relay calls it
	// after each take and before the first read.
	Blocked(ctx context.Context, l Lease) (Blocks, error)

	// Due returns parked messages whose time has come, see Due. Messages come
	// with their bytes.
	Due(ctx context.Context, d Due) ([]Parked, error)

	// Maintain does some of a box's housekeeping, for at most about a second:
	// promotes scheduled messages that are due, makes room in the log, copies
	// parked messages out of what is to be dropped, and drops what every
	// subscription has passed and the ledger agrees with. It needs the lease of
	// the box's Maintenance pseudo-subscription, and does nothing when that is
	// lost (ErrLeaseLost).
	Maintain(ctx context.Context, r Retention) (Report, error)
}

// Waker is implemented by a store that can tell a relay of new messages without
// being asked. A hint may be early, late or missing.
type Waker interface {
	// Woken returns a channel that receives after messages may have been
	// committed, by this process or another. It has room for one and is never
	// closed. All callers share it.
	Woken() <-chan struct{}
}

// Errors of a store. Each is wrapped with what was being done and what to do.
var (
	// ErrNoBox: the box does not exist.
	ErrNoBox = postbag.ErrNoBox
	// ErrNoSubscription: the subscription was never declared.
	ErrNoSubscription = errors.New("store: no such subscription; a relay that names it declares it")
	// ErrFilterDiffers: a subscription was declared with another filter.
	ErrFilterDiffers = errors.New("store: the subscription was declared with another filter; name that one, or another subscription")
	// ErrCursor: Query.Cursor is none that a listing ended with.
	ErrCursor = errors.New("store: the cursor is malformed; use the one of the answer before")
	// ErrRestarted: the server crashed or failed over since a position was read.
	ErrRestarted = errors.New("store: the server was restarted since these positions were read; take the leases again")
	// ErrMoved: the database has another identity than the positions in it.
	ErrMoved = errors.New("store: the database is not the one its positions were written in")
	// ErrStandby: the server is a standby or read-only.
	ErrStandby = errors.New("store: the server is read-only; connect to the primary")
	// ErrSchema: the schema is missing, older than this program or too new.
	ErrSchema = errors.New("store: the schema does not fit; run postbag migrate up")
	// ErrLeaseLost: the lease that the call works under is another's by now.
	ErrLeaseLost = errors.New("store: the lease is lost")
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

// Features declares what a store does. The conformance suite asserts each in
// both directions.
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
	// Editing: commands are taken for pending messages too, what failed of a message
	// is shown after its end, and the store is an Editor.
	Editing bool
	// HeldTopics: messages can be parked Held, Due finds them by their topic, and
	// Blocked names those topics. A relay on a store without it takes a failure of
	// one topic for one of the whole destination.
	HeldTopics bool
}

// Maintenance is the name of the pseudo-subscription of every box whose single
// shard is the right to maintain the box. It reads nothing.
const Maintenance = "@maintenance"

// Turn is one round of settling and reading.
type Turn struct {
	Settle []Settlement
	Read   []Request
}

// TurnResult answers a Turn.
type TurnResult struct {
	// Verdicts[i] is the fate of Settle[i].
	Verdicts []Verdict
	// Batches[i] answers Read[i].
	Batches []Batch
	// Commands wait for slots that were read or settled: all about messages that
	// are not parked, and up to 1,000 about parked ones, oldest first. A command
	// comes again until a settlement says that it is done. They are read after the
	// settlements of the same Turn; a command whose message is not parked, and which
	// the settled position of its shard has passed, is closed by the store and does
	// not come, nor does one whose message is gone.
	Commands []Command
	// NextDue is how long until the next parked message of the slots that were
	// read or settled is due: zero when one is, negative when none is parked
	// with a time.
	NextDue time.Duration
	// Epoch changes whenever relays, leases, shards or subscriptions change, so
	// that a relay that sees a new one beats at once. Never zero.
	Epoch int64
	// Life numbers the lives of the database: it grows when a standby is promoted,
	// which can give out again a seq that was lost. It is that of the life in which
	// the batches were read. Zero: the store does not say.
	Life int64
}

// Verdict is the fate of a settlement.
type Verdict struct {
	// Applied: the shard's row says what the settlement says. False: the lease
	// is lost and nothing of it was written.
	Applied bool
	// Cleared are key hashes, among those of the rows it parked or resolved,
	// that have no blocking parked message left in the shard, on a repeat too.
	Cleared []uint64
}
