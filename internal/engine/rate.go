package engine

import (
	"math"
	"time"

	"github.com/postbag/postbag/store"
)

// Rate bounds what a flow sends, sends again among it: Messages and Bytes a second, with
// bursts; zero: no bound. Shared: of the bound it has the share that its shards are of all
// slots. The type that users set, and its documentation, is relay.Rate. It is of this form.
type Rate = struct {
	Messages, Bytes   float64
	Burst, BurstBytes int
	Shared            bool
}

// normalRate returns r with its zero fields filled.
func normalRate(r Rate) Rate {
	if r.Burst <= 0 {
		r.Burst = int(min(max(r.Messages, 1), math.MaxInt32))
	}
	if r.BurstBytes <= 0 {
		r.BurstBytes = int(min(max(r.Bytes, 1), math.MaxInt32))
	}
	return r
}

// leastAhead is how many messages a page may have, however low the rate is.
const leastAhead = 10

// leastAheadBytes is the same of bytes.
const leastAheadBytes = 8 << 10

// readsAhead returns c with pages bounded to what is sent within a second: what lies in hand longer only
// delays a change of shards, which waits for it.
func (c Config) readsAhead() Config {
	if r := c.Rate; r.Messages > 0 {
		c.Page = min(c.Page, max(leastAhead, r.Burst, int(min(r.Messages, math.MaxInt32))))
	}
	if r := c.Rate; r.Bytes > 0 {
		c.PageBytes = min(c.PageBytes, max(leastAheadBytes, r.BurstBytes, int(min(r.Bytes, math.MaxInt32))))
	}
	return c
}

// Weigh returns how many bytes of a rate a message takes: its payload, headers and key.
func Weigh(r *store.Record) int {
	n := len(r.Payload) + len(r.Key)
	if r.HeaderBytes > 0 {
		return n + r.HeaderBytes
	}
	for k, v := range r.Headers {
		n += len(k) + len(v)
	}
	return n
}

// limiter holds a flow to its rate by two token buckets (the leaky bucket as a meter: J.
// Turner, New directions in communications, 1986; ITU-T I.371). Messages take from them as
// they are put into a call.
//
// A bucket that is full always has enough for one message: what that takes too much is a
// debt, and nothing goes before it is paid. So in any time nothing but the larger of burst
// and one message goes beyond the rate.
type limiter struct {
	messages, bytes bucket

	shared bool
	share  float64 // of the rate
	least  float64 // share since the last tick
	last   float64 // share when it was not zero

	at        time.Duration // of the last tick
	until     time.Duration // nothing goes before it
	waits     bool          // something could go, but for the rate, since at
	throttled time.Duration // for how long that was so

	first   *entry  // the oldest that could not go: it goes before others
	retries float64 // how many parked messages may go while new ones wait
	trial   bool    // a trial was waited for already
}

// bucket is one bound of a limiter. Its share is that of the limiter.
type bucket struct {
	rate, burst float64 // of all shares; rate zero: no bound
	level       float64 // what may be taken now; negative: a debt
}

// newLimiter returns nil if there is no bound. The share of a shared rate is none yet, and
// what comes to it begins empty: the owner before may have used its burst.
func newLimiter(r Rate) *limiter {
	if r.Messages <= 0 && r.Bytes <= 0 {
		return nil
	}
	l := &limiter{shared: r.Shared, retries: 1}
	l.messages = bucket{rate: r.Messages, burst: float64(r.Burst)}
	l.bytes = bucket{rate: r.Bytes, burst: float64(r.BurstBytes)}
	if !r.Shared {
		l.share, l.least, l.last = 1, 1, 1
		l.messages.level, l.bytes.level = l.messages.burst, l.bytes.burst
	}
	return l
}

// resize notes that shards came or went.
func (f *Flow) resize() {
	l := f.rate
	if l == nil {
		return
	}
	l.waits = l.waits && len(f.shards) > 0
	if !l.shared {
		return
	}
	slots := 0
	for _, s := range f.shards {
		slots += s.hi - s.lo
	}
	l.share = float64(slots) / slotCount
	l.least = min(l.least, l.share)
	l.until = 0
}

// tick fills the buckets for the time since the last tick. It is called before anything is
// asked of them.
func (l *limiter) tick(now time.Duration) {
	passed := max(now-l.at, 0)
	if l.waits {
		l.throttled += passed
	}
	pace := l.least
	if pace == 0 {
		pace = l.last // a debt is paid by what others send of it
	}
	l.messages.fill(passed, pace, l.least)
	l.bytes.fill(passed, pace, l.least)
	l.at, l.waits, l.trial, l.least = now, false, false, l.share
	if l.share > 0 {
		l.last = l.share
	}
}

// fill adds what has come in a time, at a share of the rate, up to a share of the burst.
func (b *bucket) fill(passed time.Duration, pace, share float64) {
	b.level = min(b.level+b.rate*pace*passed.Seconds(), b.burst*share)
}

// nearly forgives what is lost in rounding.
const nearly = 1e-6

// has says that so much may be taken. A full bucket has enough for anything.
func (b *bucket) has(n, share float64) bool {
	return b.rate <= 0 || b.level+nearly >= min(n, b.burst*share)
}

// wait is how long it takes until so much may be taken.
func (b *bucket) wait(n, share float64) time.Duration {
	if b.has(n, share) {
		return 0
	}
	seconds := (min(n, b.burst*share) - b.level) / (b.rate * share)
	if seconds >= longestWait.Seconds() { // no share: it is asked again when it has one
		return longestWait
	}
	return time.Duration(seconds*float64(time.Second)) + 1
}

const longestWait = time.Hour

// pace is what comes in so long: a call that waits for the rate is not made for less, so
// that a high rate does not make many calls of one message.
const pace = 10 * time.Millisecond

// may says that e may be put into the call that is being made. After a no, only what is
// older may be. The oldest of those that could not go is the first of the next call:
// otherwise small ones could always take what a large one waits for, and one group what
// another one does.
func (l *limiter) may(e *entry) bool {
	if l.trial {
		return true
	}
	if l.at < l.until && (l.first == nil || e.Seq >= l.first.Seq) {
		return false
	}
	size := float64(Weigh(e.Record))
	if l.messages.has(1, l.share) && l.bytes.has(size, l.share) {
		return true
	}
	step := l.share * pace.Seconds()
	if l.first == nil || e.Seq < l.first.Seq {
		l.first = e
	}
	l.until = l.at + max(l.messages.wait(max(1, l.messages.rate*step), l.share), l.bytes.wait(max(size, l.bytes.rate*step), l.share))
	return false
}

// spent: something could not go into the call that is being made.
func (l *limiter) spent() bool { return l.at < l.until }

// take takes what e weighs.
func (l *limiter) take(e *entry) {
	if l.messages.rate > 0 {
		l.messages.level--
	}
	if l.bytes.rate > 0 {
		l.bytes.level -= float64(Weigh(e.Record))
	}
}

// throttled says that the rate alone keeps what waits from being sent.
func (f *Flow) throttled() bool {
	l := f.rate
	if l == nil || l.trial || l.at >= l.until {
		return false
	}
	l.waits = true
	return true
}

// mayTry says whether a trial may be made, of one message whatever it weighs, and if not,
// when.
func (l *limiter) mayTry(now time.Duration) (at time.Duration, may bool) {
	l.tick(now)
	at = now + max(l.messages.wait(1, l.share), l.bytes.wait(1, l.share))
	l.trial = at == now
	return at, l.trial
}

// first includes the message that a call before had not enough for.
func (b *filling) first() {
	f, l := b.f, b.f.rate
	if l == nil || l.first == nil || l.spent() {
		return
	}
	e, before := l.first, len(f.scratch)
	l.first = nil
	switch {
	case !e.ready() || e.shard.lost || e.Err != nil || e.alone || f.isBarred(e) || f.meetsOld(e, b.now):
	case !f.cfg.Transactions || e.parked:
		if b.room(e) && b.fits(e) {
			b.include(e)
		}
	default: // a window is sent from its beginning
		b.prefix(e.shard.group, b.most)
	}
	if took := len(f.scratch) - before; !e.parked {
		l.shares(&f.cfg, took, 0)
	} else if f.unsent > 0 {
		l.shares(&f.cfg, 0, took)
	}
}

// mayRetry is how many parked messages may go while new ones wait: of what the rate lets
// through they have the part that RetryBatch is of a call, half of it at most.
func (l *limiter) mayRetry(cfg *Config) int {
	return min(int(max(l.retries, 0)), cfg.RetryBatch)
}

// shares notes how many new messages a call takes, and how many parked ones while new ones
// wait.
func (l *limiter) shares(cfg *Config, fresh, retries int) {
	part := float64(cfg.RetryBatch) / float64(max(cfg.Batch-cfg.RetryBatch, cfg.RetryBatch))
	most := float64(max(cfg.RetryBatch, 1))
	l.retries = min(max(l.retries+part*float64(fresh)-float64(retries), -most), most)
}

// fillShares fills a call as fillCall does, but for this: parked messages that may go
// stand before new ones, of which perhaps none can go.
func (b *filling) fillShares() {
	f := b.f
	b.fill(&f.again, b.most)
	b.first()
	waits := !f.ready.empty()
	if waits {
		b.fillRetries()
	}
	before := len(f.scratch)
	b.pins()
	if !waits {
		b.fill(&f.retry, b.most)
		return
	}
	b.fill(&f.ready, b.most)
	f.rate.shares(&f.cfg, len(f.scratch)-before, 0)
}

// fillRetries includes parked messages that may go while new ones wait.
func (b *filling) fillRetries() {
	before := len(b.f.scratch)
	b.fill(&b.f.retry, before+b.f.rate.mayRetry(&b.f.cfg))
	b.f.rate.shares(&b.f.cfg, 0, len(b.f.scratch)-before)
}
