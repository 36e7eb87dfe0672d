package engine

import (
	"cmp"
	"time"
)

// Tune takes another policy while the flow works. It is c that NewFlow would take, and may
// differ in Retry, Rules and RuleOf, Rate, InFlight, Calls, Batch, RetryBatch, PollMin,
// PollMax, Linger and SettleEvery. What is in a call stays there, and what is dead stays
// dead. If more is out than InFlight says now, only what keeps windows from moving is sent
// until less is.
func (f *Flow) Tune(now time.Duration, c Config) {
	c = c.Normal()
	c.HoldTopics, c.Ends = f.cfg.HoldTopics, f.cfg.Ends
	before := f.cfg.Rate
	f.above = f.places()
	f.cfg = c
	f.pollMax = max(f.pollMax, c.PollMin)
	if c.Rate != before {
		f.rerate(now, c.Rate)
	}
}

// places is how many messages may be out.
func (f *Flow) places() int { return max(f.cfg.InFlight, f.above) }

// lower brings what may be out down to InFlight after an operator has lowered that: to what
// is out, and a place for each window in which something sent waits for what was not sent
// yet. Without those places, it could wait for ever, with all of InFlight.
func (f *Flow) lower(pins int) {
	f.above = min(f.above, f.out+pins)
	if f.above <= f.cfg.InFlight {
		f.above = 0
	}
}

// holdsSent says that something in the window was sent, and is not settled.
func (l *group) holdsSent() bool {
	for _, p := range l.pages {
		for i := p.head; i < len(p.entries); i++ {
			if e := &p.entries[i]; e.counted() && !e.drafted() {
				return true
			}
		}
	}
	return false
}

// rerate holds the flow to another rate. Its buckets have what those before had, and are
// empty where there was no bound. So no change of a rate brings a burst with it, and a debt
// stays.
func (f *Flow) rerate(now time.Duration, r Rate) {
	old, l := f.rate, newLimiter(r)
	if old != nil {
		old.tick(now)
		f.stats.Throttled += old.throttled
	}
	f.rate = l
	if l == nil {
		return
	}
	l.messages.level, l.bytes.level, l.at = 0, 0, now
	if l.shared {
		f.resize()
		l.least, l.last = l.share, l.share
	}
	if old != nil {
		l.last = cmp.Or(l.last, old.last)
		l.messages.inherit(&old.messages, l.share)
		l.bytes.inherit(&old.bytes, l.share)
	}
}

// inherit takes over what a bucket has, as far as it may.
func (b *bucket) inherit(old *bucket, share float64) {
	if old.rate > 0 && b.rate > 0 {
		b.level = min(old.level, b.burst*share)
	}
}
