package engine

import (
	"time"

	"github.com/postbag/postbag/store"
)

// watch has the flow look for slow calls at a time.
func (f *Flow) watch(at time.Duration) {
	if f.slowAt == 0 || at < f.slowAt {
		f.slowAt = at
	}
}

// Slow parks, as in flight, the messages whose answers are late while others that
// were sent after them came through: their calls go on, and their answers resolve
// the rows. What nobody overtakes is not slow: then the destination is, and the
// circuit's time comes.
// It is called after each answer, and when Wake says so.
func (f *Flow) Slow(now time.Duration) {
	if f.slowAt == 0 || now < f.slowAt && !f.crowded() {
		return
	}
	f.slowAt = 0
	for _, c := range f.calls {
		switch {
		case c.slow, c.held:
		case f.late(c, now) || f.overtaken(c):
			c.slow = true
			for _, e := range c.entries {
				f.slowDown(e, now)
			}
		default:
			f.watch(max(c.sentAt+f.cfg.SlowAfter, now+f.cfg.SlowAfter/4))
		}
	}
}

// crowded: a call keeps the window from moving although much was accepted after
// it.
func (f *Flow) crowded() bool {
	if !f.full() {
		return false
	}
	for _, c := range f.calls {
		if !c.slow && !c.held && f.overtaken(c) {
			return true
		}
	}
	return false
}

func (f *Flow) overtaken(c *Call) bool { return c.behind >= f.cfg.SlowBehind }

func (f *Flow) late(c *Call, now time.Duration) bool {
	return now >= c.sentAt+f.cfg.SlowAfter && c.behind > 0
}

// countOvertaken counts an acceptance by a call for those that began before it.
func (f *Flow) countOvertaken(c *Call) {
	for _, o := range f.calls {
		if o.ID < c.ID {
			o.behind++
		}
	}
}

func (f *Flow) slowDown(e *entry, now time.Duration) {
	if e == nil || e.state != sent || e.parked || e.shard.lost {
		return
	}
	if e.chain != nil {
		e.chain.remove(e)
	}
	f.parkInWindowAs(onSlow, e, store.Park{State: store.ParkInFlight, Blocking: true}, now)
	if e.chain != nil {
		f.parkBehind(e.chain, now)
	}
}
