package engine

import (
	"time"

	"github.com/postbag/postbag/store"
)

// Order says which messages wait for each other.
type Order int

const (
	// ByKey orders messages of one key.
	ByKey Order = iota
	// ByShard orders all messages of a shard.
	ByShard
	// Unordered orders nothing.
	Unordered
)

// OnReject says what a rejected message does to those behind it.
type OnReject int

const (
	// Block parks later messages of its key behind it.
	Block OnReject = iota
	// Skip lets its key go on.
	Skip
	// Supersede is Skip, but for this: it ends without being delivered as soon as a newer
	// message of its key was. Under another Order than ByKey, and with Transactions, it is Skip.
	Supersede
)

// Config is a subscription's policy and the size of its machinery. Every field
// is set by the caller; Normal fills the defaults.
type Config struct {
	// Ref names the subscription.
	Ref store.Ref

	Order    Order
	OnReject OnReject
	Retry    Retry
	// Rules are for messages that Retry is not for. RuleOf says by its type which one a
	// message has: n for Rules[n-1], and zero for Retry. It is set if there are Rules.
	Rules  []Retry
	RuleOf func(typ string) int
	// DeadTo is the box that gets a dead letter of each message that becomes dead. Empty:
	// there are none.
	DeadTo string
	// DeadTopic is the topic of those letters. Empty: that of the message.
	DeadTopic string
	// Rate bounds what is sent. Zero: nothing does.
	Rate Rate

	// Ordered and MaxBatch are the destination's features.
	Ordered  bool
	MaxBatch int
	// Transactions: each call is a transaction, settled before the next one is
	// made. The destination is then Ordered.
	Transactions bool

	// CountFirst: an attempt is counted, in a row, before its call. Without effect with
	// Transactions.
	CountFirst bool
	// Prober: the destination can be probed while the circuit is open.
	Prober bool

	// HoldTopics: the store can keep messages for topics that do not work. Without,
	// a failure of one topic is taken for one of the destination.
	HoldTopics bool
	// MaxHeld is how many messages may be held before nothing more is read.
	MaxHeld int
	// TopicMin and TopicMax bound the pause after a topic failed.
	TopicMin, TopicMax time.Duration

	// Ends says that nothing comes behind a position any more: the subscription ends there. It
	// has no side effect. Nil: it does not end.
	Ends func(store.Position) bool

	// InFlight bounds messages that were sent and are not settled.
	InFlight int
	// Calls bounds the calls to the destination at a time, Batch and BatchBytes
	// the messages and payload bytes of one.
	Calls, Batch, BatchBytes int
	// RetryBatch bounds the parked messages in a call while others wait.
	RetryBatch int
	// Page and PageBytes bound one read. No more than two pages wait to be
	// sent: one is read while another is being sent.
	Page, PageBytes int
	// Rows bounds the rows that the windows hold, with those that the filter refuses and those
	// that are done: they stay until the window moves. One page may go beyond.
	Rows int
	// Buffer bounds what all messages in hand weigh: read and not sent, in calls, and
	// parked ones that are tried. A quarter is for those. Where nothing is in hand one
	// message goes, however large it is.
	Buffer int
	// SettleEvery is the longest that a resolved message waits for its
	// settlement; IdleSettle the same for a position that moved over nothing.
	SettleEvery, IdleSettle time.Duration
	// SlowAfter parks a message as in flight when its answer takes longer and
	// others were accepted meanwhile; SlowBehind when that many were.
	SlowAfter  time.Duration
	SlowBehind int
	// LeaveAfter is how long a shard that is given back waits for what stands before
	// messages that were accepted, and how long one that stops waits for a call that
	// it ended.
	LeaveAfter time.Duration
	// PollMin and PollMax bound the time between reads that find nothing.
	PollMin, PollMax time.Duration
	// Linger is the time from the start of a read that finds less than half a page
	// to the next one, and up to four times as long if it finds more than a few:
	// while messages trickle in, they do not cost a round trip each. A flow that is
	// woken pauses for a fortieth of it a message found, and at most for Linger.
	// Zero: neither.
	Linger time.Duration
	// CircuitMin and CircuitMax bound the pause after an outage shows.
	CircuitMin, CircuitMax time.Duration
	// AfterMax bounds the wait that a destination may ask for.
	AfterMax time.Duration
	// TallySpan is how many seqs a line of the ledger covers.
	TallySpan int64
	// Rand returns a number in [0, 1). It decides jitter and nothing else.
	Rand func() float64

	ages bool // some Retry has a MaxAge, and what is too old is not sent
}

// Normal returns c with its zero fields filled.
func (c Config) Normal() Config {
	or := func(p *int, v int) {
		if *p <= 0 {
			*p = v
		}
	}
	orTime := func(p *time.Duration, v time.Duration) {
		if *p <= 0 {
			*p = v
		}
	}
	or(&c.InFlight, 1000)
	or(&c.Batch, 500)
	if c.MaxBatch > 0 {
		c.Batch = min(c.Batch, c.MaxBatch)
	}
	c.Batch = min(c.Batch, c.InFlight)
	or(&c.BatchBytes, 4<<20)
	if c.Batch == 1 {
		or(&c.Calls, 32)
	}
	or(&c.Calls, 4)
	if c.CountFirst { // of a busy key all but the first come from the parking lot
		or(&c.RetryBatch, max(c.Calls, 32))
	}
	or(&c.RetryBatch, max(c.Batch/4, 1))
	or(&c.Page, 1000)
	or(&c.Rows, max(64_000, 4*c.Page))
	or(&c.PageBytes, 8<<20)
	or(&c.Buffer, 64<<20)
	orTime(&c.SettleEvery, 50*time.Millisecond)
	orTime(&c.IdleSettle, 30*time.Second)
	orTime(&c.SlowAfter, time.Second)
	orTime(&c.LeaveAfter, 250*time.Millisecond)
	or(&c.SlowBehind, min(1000, max(c.InFlight*3/4, 1)))
	orTime(&c.PollMin, 4*time.Millisecond)
	orTime(&c.PollMax, time.Second)
	orTime(&c.CircuitMin, 100*time.Millisecond)
	orTime(&c.CircuitMax, time.Second)
	or(&c.MaxHeld, 100_000)
	orTime(&c.TopicMin, 100*time.Millisecond)
	orTime(&c.TopicMax, 30*time.Second)
	orTime(&c.AfterMax, time.Hour)
	if c.TallySpan <= 0 {
		c.TallySpan = 1 << 20
	}
	c.Retry = normalRetry(c.Retry)
	c.ages = c.Retry.MaxAge > 0 && !c.Transactions
	for i := range c.Rules {
		c.Rules[i] = normalRetry(c.Rules[i])
		c.ages = c.ages || c.Rules[i].MaxAge > 0 && !c.Transactions
	}
	c.Rate = normalRate(c.Rate)
	c = c.readsAhead()
	if c.Rand == nil {
		c.Rand = func() float64 { return 0.5 }
	}
	return c
}
