package engine

import (
	"time"

	"github.com/postbag/postbag/store"
)

// Lanes meet so that their shards can be read as one. The first lane leads: it
// reads what there is. The others read up to the last position on its way where
// a window ended (Until). One that has got there is near: the lane that leads
// waits for it at the next end of a window, and when both stand at one position
// with nothing in hand, they are joined.
//
// Which of two positions is the later one only the store knows. A lane that was
// not behind the one that leads, although that had the time to read on, leads
// itself. One in the middle of a window, which nobody can be told to stop at,
// reads to its end first.
//
// Nobody waits for long: after SlowAfter both go on, and try again at the end of
// a window. A flow that is quiet reads only what brings its lanes together.

// join unites lanes that stand at one position with nothing in hand.
func (f *Flow) join() {
	for i := 1; i < len(f.lanes); i++ {
		first, l := f.lanes[0], f.lanes[i]
		if l.read != first.read || !l.empty() || !first.empty() || l.unsettled() || first.unsettled() {
			continue
		}
		for _, s := range l.shards {
			s.lane = first
		}
		first.shards = append(first.shards, l.shards...)
		if l.whole {
			first.mark, first.whole = l.mark, true
		}
		first.started = first.started || l.started // else all wait for its first read, and a quiet one makes none
		first.near, first.free, first.stray, first.dry = false, false, false, false
		first.nextPoll = min(first.nextPoll, l.nextPoll)
		f.lanes = without(f.lanes, l)
		i--
	}
}

// place notes where a page has brought the lane, as to the one that leads.
func (f *Flow) place(l *lane, b *store.Batch) {
	l.near = l.until != "" && b.Next == l.until
	l.whole, l.stray = b.Whole, false
	if b.Whole {
		l.mark, l.free = b.Next, false
	}
}

// ahead: l was not behind the lane that led when it asked.
func (f *Flow) ahead(l *lane, now time.Duration) {
	l.near = false
	l.nextPoll = now + f.pollAfter(now-l.found)
	switch {
	case l == f.lanes[0]:
		l.nextPoll = now
	case !l.whole:
		l.free = true
	case !l.stray: // the one that leads may have read on meanwhile, or does now
		l.stray, f.lanes[0].nextPoll = true, now
	default:
		f.lead(l)
	}
}

// lead makes l the lane that leads.
func (f *Flow) lead(l *lane) {
	lanes := append(make([]*lane, 0, len(f.lanes)), l)
	for _, o := range f.lanes {
		o.near, o.stray = false, false
		if o != l {
			lanes = append(lanes, o)
		}
	}
	l.free = false
	f.lanes = lanes
}

// meet chooses a lane that can lead, and ends a wait that took too long.
func (f *Flow) meet(now time.Duration) {
	if len(f.lanes) < 2 {
		f.meetBy = 0
		return
	}
	f.choose()
	if f.quiet || !f.waiting() {
		f.meetBy = 0
		return
	}
	f.urgent = true // so that nobody waits for a settlement that could be made
	if f.meetBy == 0 {
		f.meetBy = now + f.cfg.SlowAfter
	}
	if now >= f.meetBy {
		f.meetBy = 0
		for i, l := range f.lanes {
			l.near, l.free = false, i > 0
		}
	}
}

// choose has a lane lead that can: one that some shard of stays in, and that is not at
// the beginning of the log if there is another. Nothing can be told to stop there, because
// the beginning has no position, and nobody is behind it.
func (f *Flow) choose() {
	var can *lane
	for _, l := range f.lanes {
		if l.readable() && (can == nil || can.read == "" && l.read != "") {
			can = l
		}
	}
	if can != nil && can != f.lanes[0] {
		f.lead(can)
	}
}

// waiting says that some lane waits for another.
func (f *Flow) waiting() bool {
	for i := range f.lanes {
		if f.holds(i) {
			return true
		}
	}
	return false
}

// holds says that lane i must not read now.
func (f *Flow) holds(i int) bool {
	if i == 0 {
		return f.holdsLead()
	}
	first, l := f.lanes[0], f.lanes[i]
	if l.free {
		return false
	}
	return !first.started || l.read == first.read || l.near && !first.whole
}

func (f *Flow) holdsLead() bool {
	first, others := f.lanes[0], f.lanes[1:]
	stray := false
	for _, o := range others {
		if !o.free && (o.read == first.read || o.near && first.whole) {
			return true
		}
		stray = stray || o.stray || o.free
	}
	return f.quiet && !stray && (len(others) == 0 || first.whole)
}

// untilOf returns where lane i must stop reading; empty: nowhere.
func (f *Flow) untilOf(i int) store.Position {
	first, l := f.lanes[0], f.lanes[i]
	if i == 0 || l.free || l.read == first.mark {
		return ""
	}
	return first.mark
}
