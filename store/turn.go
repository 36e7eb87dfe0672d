package store

import (
	"fmt"
	"time"

	"github.com/postbag/postbag"
)

// Record is a message as it lies in the log.
type Record struct {
	postbag.Message
	Seq int64
	// Slot is computed by the store, never taken from a producer.
	Slot int
	// Hash is KeyHash(Key).
	Hash uint64
	// At is when the message was stored.
	At time.Time
	// HeaderBytes is how many bytes the headers take as they are stored. Zero: the store did
	// not count them, and Size does.
	HeaderBytes int
	// Filtered: the subscription's filter refuses the message. Message then holds only
	// the ID.
	Filtered bool
	// Err, if not nil, says that the row cannot be read whole, for example because its
	// headers are no JSON object of strings. Message holds what can be read. The relay
	// does not send it, and treats it as rejected. The text quotes no value of the row.
	Err error
}

// Size is how much memory the row takes, in bytes. Everything in it counts, headers and
// keys as well as the payload.
func (r *Record) Size() int {
	n := recordOverhead + len(r.Payload) + len(r.Topic) + len(r.Key) + len(r.ShardKey) + len(r.Type) + headerOverhead*len(r.Headers)
	if r.HeaderBytes > 0 {
		return n + r.HeaderBytes
	}
	for k, v := range r.Headers {
		n += len(k) + len(v)
	}
	return n
}

// About what a record weighs without its bytes, and a header besides its own.
const (
	recordOverhead = 256
	headerOverhead = 48
)

// Request asks for the messages of some slots beyond a position.
type Request struct {
	Ref
	// Slots are the ranges to read, of shards that stand at one position.
	Slots []Slots
	// From is the position to read beyond.
	From Position
	// Until, if not empty, ends the read. A chain that starts before it ends with Next
	// equal to it, byte for byte. It is the Next of a Whole batch.
	Until Position
	// Limit is the most rows to return, and Bytes the most bytes of them, with everything
	// in a row counted as it is stored. At least one row comes if there is one, and the
	// row that crosses Bytes comes too. No store holds much more than that in memory to
	// find out.
	//
	// Filtered rows, and scanned rows of other slots, count towards Limit in the store's
	// own way. So a batch may be short, or empty with More, and the work is still
	// bounded. With a Limit of zero nothing is read, and Next is From: the request only
	// asks for the commands and the next due time of Slots.
	Limit, Bytes int
}

// Batch answers a Request.
type Batch struct {
	// Records are in the order in which they may be sent.
	Records []Record
	// At returns the position just after Records[i]. A chain may go on from any of them.
	// It is cheap enough to be called once per settlement, and safe for concurrent use.
	// Nil if Records is empty.
	At func(i int) Position
	// Next is the position after all that was scanned. It may differ from From although
	// Records is empty. It is then worth settling from time to time.
	Next Position
	// More: the limit ended the read, and there may be more to read now.
	More bool
	// Whole: Next is where a window ends, so it may be the Until of another request. If a
	// store's positions are totally ordered, Whole is always true.
	Whole bool
	// Ahead: From is not before Until, but beyond or beside it. Nothing was read.
	Ahead bool
	// Err: this read failed, and only this one. The other fields are zero.
	Err error
}

// Settlement is everything a relay writes about one shard.
type Settlement struct {
	// Lease is the caller's, with the version before this settlement.
	Lease
	// To is the shard's new position. Empty: it stays.
	To Position
	// Park writes parked rows. A row that exists for the seq is replaced, except for its
	// history, which keeps the latest 20 entries. A row with the state and the attempts of
	// the one before adds none, unless it is dead: it only postpones. A row of state Blocked
	// never replaces another. Seqs are distinct. When another row becomes the first of its
	// Hash, that row becomes due, see Due.
	Park []Park
	// Resolve removes parked rows. A seq without one is ignored. None of them is
	// in Park.
	Resolve []Resolved
	// Tally is added to the ledger.
	Tally []Tally
	// Done are commands that were carried out. A command is closed if id, kind and
	// message are those that are named. Otherwise nothing happens: after a fail-over to
	// an older state its id may be another command's. If a Discard in Done names a
	// message in Resolve, that message is discarded, whether the command is still there
	// or not. So is a message without a parked row that the settlement's position passes.
	Done []Done
	// Supersede names keys, each once. After all else was written, the parked rows that wait
	// in the shard and are older than its Seq are removed: of its Hash, with a lower seq, of state
	// Retrying, and not Blocking. They are superseded: the store moves them in the ledger from
	// TallyParked to TallySuperseded, and closes the commands about them. See SupersededReason.
	//
	// If more rows are there than it may remove at once, the store removes that many, writes nothing
	// else of the settlement, and says so in Verdict.More. Other settlements of the turn are
	// applied all the same. They share MostSuperseded, and each removes at least one row. The caller makes the same settlement
	// again. So its position never passes a message while an older one waits that it ends. What
	// Park and Resolve name stays.
	Supersede []Superseding
}

// MostSuperseded is how many rows the settlements of a turn supersede at most, beside those that they park themselves: one
// alone has all of it.
const MostSuperseded = 1000

// Superseding names a key of which a message was delivered, by the hash of the key.
type Superseding struct {
	// Hash is not zero.
	Hash uint64
	// Seq and ID are of the message that was delivered. Zero: none was, and no row is removed.
	// The verdict tells what waits.
	Seq int64
	ID  postbag.ID
}

// Waiting is what waits of a key: rows of state Retrying that are not Blocking.
type Waiting struct {
	// Hash is not zero.
	Hash uint64
	// Seq is that of the newest row.
	Seq int64
}

// SupersededReason is the reason of a row that was superseded, by the message of this seq and id.
// It is the last entry of its history, too.
func SupersededReason(seq int64, id postbag.ID) string {
	return fmt.Sprintf("superseded by message %d of its key (%s)", seq, id)
}

// Park describes one parked message.
type Park struct {
	Seq int64
	// Slot and Hash are the message's. Under strict order of a shard all messages have
	// StrictHash. A Hash of zero blocks nothing.
	Slot int
	Hash uint64
	// State is ParkRetrying, ParkBlocked, ParkInFlight, ParkHeld or ParkDead.
	State ParkState
	// Blocking: later messages of the same Hash wait behind this one.
	Blocking bool
	// Attempts is how many were counted so far.
	Attempts int
	// Delay is how long until the next attempt, for ParkRetrying.
	Delay time.Duration
	// Reason is the last error, scrubbed, at most 1,024 bytes. It may hold any bytes: the
	// store makes it valid text. Empty: none.
	Reason string
	// Topic is the topic that does not work, or the Pause.HeldAs of the pause that holds
	// the message, if State is ParkHeld. Otherwise it is empty.
	Topic string
	// Cause is why the message is dead, and DeadTo the box that its dead letter goes to, if
	// State is ParkDead. See DeadLetter. Both are for this settlement, and are not kept in
	// the row. Empty: no dead letter.
	Cause  DeathCause
	DeadTo string
	// DeadTopic is the topic of the dead letter. It is for this settlement alone, too. Empty:
	// the topic of the message.
	DeadTopic string
}

// Resolved names a parked row to be removed.
type Resolved struct {
	Seq  int64
	Hash uint64
}

// ParkState is why a message is parked.
type ParkState int

const (
	// ParkRetrying waits for its next attempt, at its due time.
	ParkRetrying ParkState = iota + 1
	// ParkBlocked waits behind an earlier parked message of its key. It is due as soon as
	// it is the first of its key.
	ParkBlocked
	// ParkInFlight was sent, and its answer is still out. It is due only after its shard
	// got another owner.
	ParkInFlight
	// ParkDead is out of attempts or of time. It is due only after a Retry command.
	ParkDead
	// ParkHeld waits because its topic does not work, or an operator holds it, see
	// Park.Topic. It has no due time: Due returns it when asked for that.
	ParkHeld
)

// ParkSuperseded is of no row. It is the last entry of the history of a message that was
// superseded, see Settlement.Supersede.
const ParkSuperseded ParkState = 9

var parkStateNames = [...]string{"", "retrying", "blocked", "in-flight", "dead", "held"}

// String returns the state's name as the CLI shows it.
func (s ParkState) String() string {
	if s == ParkSuperseded {
		return "superseded"
	}
	if s < 1 || int(s) >= len(parkStateNames) {
		return "unknown"
	}
	return parkStateNames[s]
}

// Parked is a parked message with its bytes.
type Parked struct {
	Record
	Park
	// First is when it was first parked, as an age.
	First time.Duration
}

// Due asks for parked messages of a subscription that can be tried.
//
// Of each blocking Hash only the message with the lowest seq counts, and only if it is
// ParkRetrying and due, or ParkBlocked (it has become the first). Up to Followers more
// messages of its Hash come right behind it, in seq order, if they are ParkBlocked. They
// end before the first that is not ParkBlocked. A message that is not Blocking counts by
// itself.
//
// The message that has been due longest comes first. A row has a due time only while it
// counts. So Due and NextDue read one range of an index, however many messages wait. A
// caller under strict order, whose rows all have one Hash, asks for one shard at a time.
type Due struct {
	Ref
	Slots []Slots
	// Limit is the most messages to return, followers included, and Bytes the
	// most bytes of them, as in Request.
	Limit, Bytes int
	// Topics, if not empty, asks only for the ParkHeld messages of these topics, lowest
	// seq first. Of each blocking Hash only the first comes, without followers.
	Topics []string
	// Followers is the most to return behind the first of a Hash.
	Followers int
	// Skip are seqs that the caller has in hand already. A Hash whose first is
	// skipped is skipped whole.
	Skip []int64
}

// Blocks is what Blocked answers.
type Blocks struct {
	// Keys are the hashes of keys that have blocking parked messages.
	Keys []uint64
	// Held are the topics that messages are ParkHeld for.
	Held []HeldTopic
	// Waiting is what waits of each key, see Settlement.Supersede.
	Waiting []Waiting
}

// HeldTopic is a topic that does not work.
type HeldTopic struct {
	Topic string
	// Messages is how many are ParkHeld for it. Those that are ParkBlocked behind them do
	// not count.
	Messages int64
	// Reason is the reason of one of them, in an overview only.
	Reason string
}

// TallySpan is how many seqs one line of the ledger covers. The bounds of a
// log's partitions are multiples of it (plus one).
const TallySpan = 1 << 20

// Tally counts messages of one span and fate: how many, and the sums, modulo
// 2^64, of their seqs and of the last eight bytes of their ids (big-endian).
// When a parked message is resolved, it is subtracted from TallyParked.
type Tally struct {
	// Span is (seq-1) / TallySpan.
	Span          int64
	Fate          Fate
	Count         int64
	SeqSum, IDSum uint64
}

// Fate is what became of a message that a position has passed.
type Fate int

// The fates in the ledger.
const (
	TallyDelivered Fate = iota + 1
	TallyFiltered
	TallyParked
	TallyDiscarded
)

// TallySuperseded is the fate of a message that ended because a newer one of its key was
// delivered. The numbers before it are taken.
const TallySuperseded Fate = 7

// CommandID identifies a command within a store, and the newer of two. A store that
// was set back to an older state gives it out again.
type CommandID int64

// Command is an operator's command about one message. The owner of the message's shard
// carries it out, between batches.
type Command struct {
	ID CommandID
	Ref
	Kind CommandKind
	// Park is the message's row as it is; its Seq and Slot say which one. State zero:
	// the message is not parked, and the settled position of its shard has not passed
	// it. Hash is then that of its key.
	Park Park
	// Message is the id of the message.
	Message postbag.ID
	// Topic is that of the message, for the relay's log.
	Topic string
}

// Done returns what a settlement says when c was carried out.
func (c *Command) Done() Done { return Done{ID: c.ID, Kind: c.Kind, Seq: c.Park.Seq} }

// Done names a command that was carried out: its id, its kind and its message.
type Done struct {
	ID   CommandID
	Kind CommandKind
	Seq  int64
}

// CommandKind says what to do.
type CommandKind int

const (
	// Retry makes a parked message due now, and counts its attempts from zero. It does
	// nothing for a pending message.
	Retry CommandKind = iota + 1
	// Discard removes a parked or pending message for ever, without delivering it.
	Discard
)

// Retention tells Maintain what to keep.
type Retention struct {
	// Lease is that of the box's Maintenance shard.
	Lease
	// Keep is how long a message stays after every subscription has passed it, if the box
	// says nothing, see Retainer.
	Keep time.Duration
	// Headroom is for how many more messages the log must have partitions. Zero:
	// 500 million. Stores without partitions ignore it.
	Headroom int64
}

// Report is what a Maintain did.
type Report struct {
	// Promoted scheduled messages joined the log; Added and Dropped partitions;
	// Copied parked messages out of partitions to be dropped; Deleted rows.
	Promoted, Added, Dropped, Copied, Deleted int64
	// Expired dead messages have a command that discards them, because their time is over.
	Expired int64
	// Faults are what Maintain refused to do, each with what you can do, such as a ledger
	// that does not agree.
	Faults []string
	// More: there is more to do now.
	More bool
	// NextDue is how long until the next scheduled message is due; negative:
	// none.
	NextDue time.Duration
}
