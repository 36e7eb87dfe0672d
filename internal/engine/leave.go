package engine

import "slices"

// leaving is a shard that is to be handed over: what may be in the broker of it
// is waited for, and what stands before that in the window; nothing behind is
// sent any more.
type leaving struct {
	last *entry        // the last entry to wait for
	at   func() string // the position behind it
	// passed: all of that is in a draft or settled, and to is where it ends.
	passed bool
	to     string
}

// Leave begins to hand over the shards with these lower bounds, all if none is
// named: nothing new is read or sent for them; what was sent, and what must go
// before it, is waited for and settled. Left says when they are ready.
func (f *Flow) Leave(los ...int) {
	f.collect()
	for _, s := range f.shards {
		if s.leaving == nil && (len(los) == 0 || slices.Contains(los, s.lo)) {
			f.leave(s)
		}
	}
}

func (f *Flow) leave(s *shard) {
	v := &leaving{passed: true, to: s.goal()}
	for _, p := range s.lane.pages {
		for i := p.head; i < len(p.entries); i++ {
			if e := &p.entries[i]; e.shard == s && e.counted && (e.state == sent || e.state == done) {
				*v = leaving{last: e, at: func() string { return p.At(i) }}
			}
		}
	}
	s.leaving = v
	behind := v.last == nil
	s.lane.each(func(e *entry) {
		if e.shard == s && behind {
			f.forget(e)
		}
		behind = behind || e == v.last
	})
	for _, e := range f.hand {
		if e.shard == s && e.state != sent {
			f.letGo(e)
		}
	}
	f.urgent = true
}

// collectLeaving drafts the end of a leaving shard once all that it waits for is
// resolved, whatever the other shards of its lane wait for.
func (f *Flow) collectLeaving(s *shard) {
	v := s.leaving
	if v.passed {
		return
	}
	settled := true
	s.lane.each(func(e *entry) { settled = settled && (e.shard != s || e.resolved()) })
	if !settled {
		return
	}
	s.lane.each(func(e *entry) {
		if e.shard == s {
			f.draft(e)
		}
	})
	v.passed, v.to = true, v.at()
	f.urgent = true
}

// Left returns the leases of shards that have nothing in hand any more and are
// settled, and forgets them. The caller gives them back.
func (f *Flow) Left() []Lease {
	if f.round.out || f.staying() == len(f.shards) {
		return nil
	}
	var out []Lease
	for _, s := range slices.Clone(f.shards) {
		if f.hasLeft(s) {
			out = append(out, s.lease())
			f.drop(s)
		}
	}
	return out
}

func (f *Flow) hasLeft(s *shard) bool {
	v := s.leaving
	if v == nil || !v.passed || s.unsettled() || s.settled != v.to {
		return false
	}
	for _, c := range f.calls {
		for _, e := range c.entries {
			if e != nil && e.shard == s {
				return false
			}
		}
	}
	return true
}
