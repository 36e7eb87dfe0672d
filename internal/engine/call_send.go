package engine

import (
	"time"

	"github.com/postbag/postbag/store"
)

// Call is one call to the destination.
type Call struct {
	ID    int64
	Items []Item

	entries []*entry // nil where an item was Reported
	lent    []*entry // all of them, once an item was Reported; nil before: entries are all
	trial   bool
	held    bool          // until the rows of its messages have landed
	alone   bool          // of a suspect: no other goes beside it
	slow    bool          // others were accepted while it is late
	sentAt  time.Duration // when it began
	behind  int           // acceptances by calls that began after it
	tally   callTally

	canceled time.Duration // when the caller was told to end it, since it hangs; zero: it was not
	gone     bool          // nobody waits for it any more
}

// Item is one message of a call.
type Item struct {
	*store.Record
	// Attempt is one for the first delivery, and one more for each counted
	// failure.
	Attempt int
}

// Next returns the next call to make, or nil. The caller asks again until it is
// nil, and reports each call with Answered.
//
// What keeps a window from moving goes before all else, and a place within
// InFlight is kept for it: without, what was sent behind it could fill InFlight
// and wait for ever to be settled.
func (f *Flow) Next(now time.Duration) *Call {
	f.bar(now)
	f.refuseUnreadable(now)
	if f.rate != nil {
		f.rate.tick(now)
	}
	if f.paused || now >= f.expires {
		return nil
	}
	f.expireOld(now)
	if f.circuit.state != Closed {
		return nil
	}
	if f.counting() {
		return f.nextCounted(now)
	}
	if !f.mayCall() {
		return nil
	}
	if f.cfg.Transactions {
		return f.transaction(f.cfg.Batch, now)
	}
	return f.fillCall(now)
}

// fillCall makes a call of what comes next.
func (f *Flow) fillCall(now time.Duration) *Call {
	if f.again.empty() && f.retry.empty() && f.ready.empty() || f.throttled() {
		return nil
	}
	b := f.newFilling(f.cfg.Batch, now)
	if f.rate != nil {
		b.fillShares()
		return f.start(now)
	}
	b.fill(&f.again, b.most)
	b.pins()
	retries := b.most
	if !f.ready.empty() {
		retries = len(f.scratch) + f.cfg.RetryBatch
	}
	b.fill(&f.retry, retries)
	b.fill(&f.ready, b.most)
	return f.start(now)
}

// mayCall bounds the calls at a time. Slow ones have a bound of their own.
func (f *Flow) mayCall() bool {
	slow := 0
	for _, c := range f.calls {
		if c.slow {
			slow++
		}
	}
	return len(f.calls)-slow < f.cfg.Calls && slow <= f.cfg.Calls
}

// start makes a call of what is in scratch; nil if that is nothing.
func (f *Flow) start(now time.Duration) *Call {
	if len(f.scratch) == 0 {
		f.throttled()
		return nil
	}
	f.lastCall++
	n := len(f.scratch)
	c := &Call{ID: f.lastCall, sentAt: now, entries: make([]*entry, n), Items: make([]Item, n)}
	copy(c.entries, f.scratch)
	for i, e := range f.scratch {
		c.Items[i] = Item{Record: e.Record, Attempt: e.attempts + 1}
	}
	clear(f.scratch)
	f.scratch = f.scratch[:0]
	f.calls = append(f.calls, c)
	f.stats.Sent += int64(len(c.entries))
	f.watch(now + f.cfg.SlowAfter)
	return c
}

// borrowed returns all entries of a call: the caller has their bytes until it is over.
func (c *Call) borrowed() []*entry {
	if c.lent != nil {
		return c.lent
	}
	return c.entries
}

// include puts e into the call being made.
func (f *Flow) include(e *entry) {
	f.move(e, onCall)
	e.calls++
	if e.chain != nil {
		e.chain.out++
	}
	f.scratch = append(f.scratch, e)
	if f.rate != nil {
		f.rate.take(e)
	}
}

// filling is a call being made.
type filling struct {
	f       *Flow
	now     time.Duration
	most    int // messages
	size    int // bytes so far
	reserve int // places kept for what keeps a window from moving
	full    bool
}

func (f *Flow) newFilling(most int, now time.Duration) filling {
	b := filling{f: f, now: now, most: most}
	pins := 0
	for _, l := range f.groups {
		if e := l.pin(); e != nil && !e.counted() {
			b.reserve++
			if f.above > 0 && l.holdsSent() {
				pins++
			}
		}
	}
	f.lower(pins)
	return b
}

// source is a queue to fill calls from.
type source interface {
	peek() *entry
	drop()
}

// fill moves entries of q into the call until it holds most.
func (b *filling) fill(q source, most int) {
	for len(b.f.scratch) < most {
		e := q.peek()
		if e == nil || !b.room(e) || b.f.meetsOld(e, b.now) {
			return
		}
		if !b.fits(e) {
			b.full = true
			return
		}
		q.drop()
		b.include(e)
	}
}

// pins includes what keeps windows from moving and was never sent.
func (b *filling) pins() {
	for _, l := range b.f.groups {
		e := l.pin()
		if e != nil && e.state == ready && e.Err == nil && !b.f.isBarred(e) && b.f.out < b.f.places() && !b.f.meetsOld(e, b.now) && b.fits(e) {
			b.reserve--
			b.include(e)
		}
	}
}

// include puts e into the call, and what may ride behind it.
func (b *filling) include(e *entry) {
	for {
		b.size += e.size
		b.most = min(b.most, b.bound(e))
		b.f.include(e)
		next := e.follower()
		if !b.f.cfg.Ordered || next == nil || b.f.counting() || b.f.isBarred(next) || b.f.meetsOld(next, b.now) || !b.room(next) || !b.fits(next) || b.f.cfg.Transactions && !next.parked {
			return // what a transaction takes of a window is a prefix; rows that are written before a call are of one, too
		}
		e = next
	}
}

// follower returns what may ride in one call behind e, if the destination is
// Ordered: the next of its chain, if it is of the same key, since within a call a
// destination keeps the order of each key, and no other.
func (e *entry) follower() *entry {
	next := e.next
	if next == nil || !next.queued() || next.Err != nil || e.chain.shut(next) || e.chain.strict && (e.parked || next.parked || next.Hash != e.Hash || e.Hash == 0) {
		return nil
	}
	return next
}

// room: a message that was sent before has its place already.
func (b *filling) room(e *entry) bool {
	return e.counted() || b.f.out+b.reserve < b.f.places()
}

func (b *filling) fits(e *entry) bool {
	n := len(b.f.scratch)
	if e.alone || n > 0 && b.f.counting() && e.parked != b.f.scratch[0].parked {
		return false
	}
	if n > 0 && (e.doubt == nil) != (b.f.scratch[0].doubt == nil) { // what is in doubt goes with its like
		return false
	}
	if n > 0 && (b.full || n >= min(b.most, b.bound(e)) || b.size+e.size > b.f.cfg.BatchBytes) {
		return false
	}
	return b.f.rate == nil || b.f.rate.may(e)
}

// bound is how many messages a call with e may hold: half as many each time that
// its answer got lost, so that one which makes every call fail ends alone.
func (b *filling) bound(e *entry) int {
	return max(b.f.cfg.Batch>>min(e.lost(), 30), 1)
}
