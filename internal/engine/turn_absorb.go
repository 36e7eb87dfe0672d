package engine

import (
	"time"

	"github.com/postbag/postbag/store"
)

// Absorb takes the pages that landed into their windows.
func (f *Flow) Absorb(now time.Duration) {
	for _, l := range f.groups {
		for i, p := range l.arrived {
			f.absorb(l, p, now)
			l.arrived[i] = nil
		}
		l.arrived = l.arrived[:0]
	}
}

func (f *Flow) absorb(l *group, p *page, now time.Duration) {
	l.pages = append(l.pages, p)
	f.stats.Read += int64(len(p.entries))
	if !f.moved {
		f.moved, f.movedAt = true, now
	}
	for i := range p.entries {
		f.take(l, &p.entries[i], now)
	}
}

// take finds out what to do with a message that was just read.
func (f *Flow) take(l *group, e *entry, now time.Duration) {
	e.shard = f.bySlot[e.Slot]
	switch {
	case e.shard == nil || e.shard.group != l || e.shard.leaving != nil:
		f.move(e, onLeave)
	case e.Filtered:
		f.finish(onDone, e, store.TallyFiltered, now)
	case e.unwanted():
		f.discardInWindow(e, now)
	default:
		f.line(e, now)
	}
}

// line puts e into the line of its key.
func (f *Flow) line(e *entry, now time.Duration) {
	c := f.chainOf(e.shard, e.Hash)
	switch {
	case c == nil:
		f.enqueue(e, false)
	case c.blocked():
		e.chain = c
		f.parkInWindow(e, store.Park{State: store.ParkBlocked, Blocking: true}, now)
	default:
		c.push(e)
		if c.head == e && c.out == 0 && c.gate == 0 {
			f.enqueue(e, false)
		}
	}
}

// finish resolves an entry of a window, which is done, or slow: it may be settled.
func (f *Flow) finish(by event, e *entry, fate store.Fate, now time.Duration) {
	f.move(e, by)
	e.fate = fate
	f.doubted(e, fate == store.TallyParked && e.park.State != store.ParkDead)
	f.resolve(now, false)
}

// resolve notes that something waits for a settlement.
func (f *Flow) resolve(now time.Duration, urgent bool) {
	if !f.dirty {
		f.dirty, f.resolved = true, now
	}
	f.urgent = f.urgent || urgent
}
