package engine

import (
	"time"

	"github.com/postbag/postbag/store"
)

// Groups meet so that their shards can be read as one. The first group leads: it
// reads what there is. The others read up to the last position on its way where
// a window ended (Until). One that has got there is near: the group that leads
// waits for it at the next end of a window, and when both stand at one position
// with nothing in hand, they are joined.
//
// Which of two positions is the later one only the store knows. A group that was
// not behind the one that leads, although that had the time to read on, leads
// itself. One in the middle of a window, which nobody can be told to stop at,
// reads to its end first.
//
// Nobody waits for long: after SlowAfter both go on, and try again at the end of
// a window. A flow that is quiet reads only what brings its groups together.

// join unites groups that stand at one position with nothing in hand.
func (f *Flow) join() {
	for i := 1; i < len(f.groups); i++ {
		first, l := f.groups[0], f.groups[i]
		if l.read != first.read || !l.empty() || !first.empty() || l.unsettled() || first.unsettled() {
			continue
		}
		for _, s := range l.shards {
			s.group = first
		}
		first.shards = append(first.shards, l.shards...)
		if l.whole {
			first.mark, first.whole = l.mark, true
		}
		first.began, first.complete = min(first.began, l.began), max(first.complete, l.complete)
		first.started = first.started || l.started // else all wait for its first read, and a quiet one makes none
		first.near, first.free, first.stray, first.dry = false, false, false, false
		first.nextPoll = min(first.nextPoll, l.nextPoll)
		f.groups = without(f.groups, l)
		i--
	}
}

// place notes where a page has brought the group, as to the one that leads.
func (f *Flow) place(l *group, b *store.Batch) {
	l.near = l.until != "" && b.Next == l.until
	l.whole, l.stray = b.Whole, false
	if b.Whole {
		l.mark, l.free = b.Next, false
	}
}

// ahead: l was not behind the group that led when it asked.
func (f *Flow) ahead(l *group, now time.Duration) {
	l.near = false
	l.nextPoll = now + f.pollAfter(now-l.found)
	switch {
	case l == f.groups[0]:
		l.nextPoll = now
	case !l.whole:
		l.free = true
	case !l.stray: // the one that leads may have read on meanwhile, or does now
		l.stray, f.groups[0].nextPoll = true, now
	default:
		f.lead(l)
	}
}

// lead makes l the group that leads.
func (f *Flow) lead(l *group) {
	groups := append(make([]*group, 0, len(f.groups)), l)
	for _, o := range f.groups {
		o.near, o.stray = false, false
		if o != l {
			groups = append(groups, o)
		}
	}
	l.free = false
	f.groups = groups
}

// meet chooses a group that can lead, and ends a wait that took too long.
func (f *Flow) meet(now time.Duration) {
	if len(f.groups) < 2 {
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
		for i, l := range f.groups {
			l.near, l.free = false, i > 0
		}
	}
}

// choose has a group lead that can: one that some shard of stays in, and that is not at
// the beginning of the log if there is another. Nothing can be told to stop there, because
// the beginning has no position, and nobody is behind it.
func (f *Flow) choose() {
	var can *group
	for _, l := range f.groups {
		if l.readable() && (can == nil || can.read == "" && l.read != "") {
			can = l
		}
	}
	if can != nil && can != f.groups[0] {
		f.lead(can)
	}
}

// waiting says that some group waits for another.
func (f *Flow) waiting() bool {
	for i := range f.groups {
		if f.holds(i) {
			return true
		}
	}
	return false
}

// holds says that group i must not read now.
func (f *Flow) holds(i int) bool {
	if i == 0 {
		return f.holdsLead()
	}
	first, l := f.groups[0], f.groups[i]
	if l.free {
		return false
	}
	return !first.started || l.read == first.read || l.near && !first.whole
}

func (f *Flow) holdsLead() bool {
	first, others := f.groups[0], f.groups[1:]
	stray := false
	for _, o := range others {
		if !o.free && (o.read == first.read || o.near && first.whole) {
			return true
		}
		stray = stray || o.stray || o.free
	}
	return f.quiet && !stray && (len(others) == 0 || first.whole)
}

// untilOf returns where group i must stop reading; empty: nowhere.
func (f *Flow) untilOf(i int) store.Position {
	first, l := f.groups[0], f.groups[i]
	if i == 0 || l.free || l.read == first.mark {
		return ""
	}
	return first.mark
}
