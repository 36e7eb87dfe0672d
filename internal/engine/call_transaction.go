package engine

import "time"

// With Config.Transactions a call is one transaction, and the settlement behind it
// covers all of it and goes before the next call. So a relay that knows the version of a
// shard when a call was made knows from a later one that the call is settled. It
// takes three rules: one call at a time; what it takes of a window is a prefix of
// what is not resolved there; nothing is settled while it is out.

// transacting: a transaction is out, so nothing is settled.
func (f *Flow) transacting() bool { return f.cfg.Transactions && len(f.calls) > 0 }

// mayTransact: the last transaction is settled, and so is all that may change the
// version of a shard.
func (f *Flow) mayTransact() bool {
	if len(f.calls) > 0 {
		return false
	}
	f.collect()
	for _, s := range f.shards {
		if s.turn != nil || s.draft.sent > 0 {
			return false
		}
	}
	return true
}

// transaction makes the next transaction, of at most so many messages; nil if there
// is nothing to send.
func (f *Flow) transaction(most int, now time.Duration) *Call {
	if !f.mayTransact() || (f.unsent > 0 || !f.again.empty() || !f.retry.empty()) && f.throttled() {
		return nil
	}
	f.sift()
	f.lower(0)
	b := &filling{f: f, now: now, most: most}
	b.first()
	fresh := most
	if !f.retry.empty() {
		fresh = max(most-f.cfg.RetryBatch, 1)
	}
	if f.rate != nil && f.unsent > 0 {
		b.fillRetries()
	}
	before := len(f.scratch)
	for _, l := range f.groups {
		b.prefix(l, fresh)
	}
	if f.rate != nil {
		f.rate.shares(&f.cfg, len(f.scratch)-before, 0)
	}
	if f.rate == nil || !f.rate.spent() { // what is left of the rate is not for retries alone
		b.fill(&f.retry, b.most)
	}
	return f.start(now)
}

// sift leaves the messages of windows, which are found there, out of the queues.
func (f *Flow) sift() {
	var first queue // what was sent before has its place within InFlight, and goes before what has none
	for e := f.again.pop(); e != nil; e = f.again.pop() {
		if e.parked {
			first.push(e)
		}
	}
	if !first.empty() {
		for e := f.retry.pop(); e != nil; e = f.retry.pop() {
			first.push(e)
		}
		f.retry = first
	}
	for f.ready.pop() != nil {
	}
}

// prefix includes what comes next in a group's window, up to so many messages.
func (b *filling) prefix(l *group, most int) {
	for _, p := range l.pages {
		for i := p.head; i < len(p.entries); i++ {
			e := &p.entries[i]
			if e.resolved() {
				continue
			}
			if len(b.f.scratch) >= most || !e.rides() || b.f.isBarred(e) || !b.room(e) || !b.fits(e) {
				return
			}
			b.size += e.size
			b.most = min(b.most, b.bound(e))
			b.f.include(e)
		}
	}
}

// rides says that e may be in a transaction with all that stands before it in its
// chain, and behind it.
func (e *entry) rides() bool {
	c := e.chain
	switch {
	case e.state >= sent, e.Err != nil:
		return false
	case c == nil || c.head == e:
		return true
	default:
		return !c.blocked() && (!c.strict || e.Hash == c.head.Hash && e.Hash != 0)
	}
}
