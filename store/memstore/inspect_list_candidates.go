package memstore

import (
	"slices"

	"github.com/postbag/postbag/store"
)

// candidates are the ordinals that a listing walks: seqs, or the numbers of
// scheduled messages. Those apart are sorted; all between lo and hi come too.
type candidates struct {
	apart  []int64
	lo, hi int64 // hi < lo: none
}

// candidates returns what the query can find in b: by State the parked rows
// alone, the schedule alone, or the log with the parked rows that it has dropped.
func (l *lister) candidates(b *box) candidates {
	var apart []int64
	switch l.State {
	case store.StateScheduled:
		for _, m := range b.schedule.due {
			apart = append(apart, m.number)
		}
		slices.Sort(apart)
		return candidates{apart: apart, hi: -1}
	case store.StateRetrying, store.StateBlocked, store.StateInFlight, store.StateDead, store.StateHeld:
		return candidates{apart: l.parked(func(*parked) bool { return true }), hi: -1}
	default:
		return candidates{apart: l.parked(func(p *parked) bool { return p.copied }), lo: b.log.base, hi: b.log.last}
	}
}

func (l *lister) parked(want func(*parked) bool) []int64 {
	var out []int64
	for _, sub := range l.subs {
		for seq, p := range sub.lot.bySeq {
			if want(p) {
				out = append(out, seq)
			}
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// first returns the ordinal that a walk begins with, or one before it.
func (c candidates) first(oldest bool) int64 {
	if oldest {
		return 0
	}
	last := c.hi
	if n := len(c.apart); n > 0 {
		last = max(last, c.apart[n-1])
	}
	return last
}

// from returns n if it is a candidate, else the next in the walk.
func (c candidates) from(n int64, oldest bool) (int64, bool) {
	i, found := slices.BinarySearch(c.apart, n)
	switch {
	case found || n >= c.lo && n <= c.hi:
		return n, true
	case oldest:
		next, ok := n, false
		if n < c.lo && c.lo <= c.hi {
			next, ok = c.lo, true
		}
		if i < len(c.apart) && (!ok || c.apart[i] < next) {
			next, ok = c.apart[i], true
		}
		return next, ok
	}
	next, ok := n, false
	if n > c.hi && c.lo <= c.hi {
		next, ok = c.hi, true
	}
	if i > 0 && (!ok || c.apart[i-1] > next) {
		next, ok = c.apart[i-1], true
	}
	return next, ok
}

// after returns the candidate that follows n in the walk.
func (c candidates) after(n int64, oldest bool) (int64, bool) {
	if oldest {
		return c.from(n+1, true)
	}
	return c.from(n-1, false)
}
