package engine

import (
	"slices"
	"time"

	"github.com/postbag/postbag/store"
)

// leaving is a shard that is to be given back: what may be in the broker of it
// is waited for, and what stands before that in the window; nothing behind is
// sent any more.
type leaving struct {
	last *entry                // the last entry to wait for
	at   func() store.Position // the position behind it
	// passed: all of that is in a draft or settled, and to is where it ends.
	passed bool
	to     store.Position
	since  time.Duration // it began; zero: no turn was composed yet
}

// stopping is a flow that gives everything back.
type stopping struct {
	on     bool
	since  time.Duration // zero: Hung was not asked yet
	gaveUp bool
}

// Leave begins to give back the shards with these lower bounds, all if none is
// named: nothing new is read or sent for them; what was sent, and what must go
// before it, is waited for and settled. What keeps a position from passing what was
// accepted behind it for longer than LeaveAfter, or cannot be sent, is parked: the
// next owner has it. Left says when they are ready.
func (f *Flow) Leave(los ...int) {
	f.collect()
	for _, s := range f.shards {
		if s.leaving == nil && (len(los) == 0 || slices.Contains(los, s.lo)) {
			f.leave(s)
		}
	}
}

// Stop is Leave of all shards by a relay that ends. Calls that hang are not waited
// for, see Hung.
func (f *Flow) Stop() {
	f.stopping.on = true
	f.Leave()
}

func (f *Flow) leave(s *shard) {
	s.leaving = &leaving{}
	f.trim(s)
	for _, e := range f.hand {
		if e.shard == s && e.state != sent {
			f.leaveToRow(e)
		}
	}
	f.urgent = true
}

// trim finds the last entry that a leaving shard waits for, and forgets what is
// behind it.
func (f *Flow) trim(s *shard) {
	v := s.leaving
	v.last, v.at = nil, nil
	for _, p := range s.group.pages {
		for i := p.head; i < len(p.entries); i++ {
			if e := &p.entries[i]; e.shard == s && e.counted() && e.state >= sent && !e.drafted() {
				v.last, v.at = e, func() store.Position { return p.At(i) }
			}
		}
	}
	behind := v.last == nil
	s.group.each(func(e *entry) {
		if e.shard == s && behind {
			f.forget(e)
		}
		behind = behind || e == v.last
	})
	if v.last == nil {
		v.passed, v.to = true, s.group.position()
	}
}

// part has leaving shards go on without what cannot be sent, or was not answered in
// time.
func (f *Flow) part(now time.Duration) {
	f.callOff(now, func(e *entry) bool { return e != nil && e.shard.leaving != nil })
	able := f.circuit.state == Closed && !f.paused && now < f.expires
	for _, s := range f.shards {
		v := s.leaving
		if v == nil || v.passed {
			continue
		}
		if v.since == 0 {
			v.since = max(now, 1)
		}
		late := f.stopping.gaveUp || now >= v.since+f.cfg.LeaveAfter
		if !late && able {
			continue
		}
		f.trim(s)
		if !v.passed && !f.cfg.Transactions { // of a transaction nothing stands behind what is out
			f.parkRest(s, now, late)
		}
		f.urgent = f.urgent || !f.cfg.Transactions
	}
}

// parkRest parks what stands in a leaving shard's way: what was not sent, and if late
// what was not answered too, whose answers resolve the rows as long as the shard is
// here.
func (f *Flow) parkRest(s *shard, now time.Duration, late bool) {
	s.group.each(func(e *entry) {
		switch {
		case e.shard != s || e.resolved():
		case e.state == sent && late:
			f.slowDown(e, now)
		case e.state != sent:
			f.leaveBehind(e, now)
		}
	})
}

// leaveBehind parks a message that was not sent, for the next owner: as in flight, so
// that it is due as soon as the shard is taken, or behind the first of its key.
func (f *Flow) leaveBehind(e *entry, now time.Duration) {
	p := store.Park{State: store.ParkInFlight, Blocking: true}
	if c := e.chain; c != nil {
		if c.blocked() || c.head != e {
			p.State = store.ParkBlocked
		}
		c.remove(e)
	}
	f.parkInWindow(e, p, now)
}

// collectLeaving drafts the end of a leaving shard once all that it waits for is
// resolved, whatever the other shards of its group wait for.
func (f *Flow) collectLeaving(s *shard) {
	v := s.leaving
	if v.passed {
		return
	}
	settled := true
	s.group.each(func(e *entry) { settled = settled && (e.shard != s || e.resolved()) })
	if !settled {
		return
	}
	s.group.each(func(e *entry) {
		if e.shard == s {
			f.draft(e)
		}
	})
	v.passed, v.to = true, v.at()
	f.urgent = true
}

// Left returns the leases of shards that have nothing in hand any more and are
// settled, and forgets them. The caller gives them back.
func (f *Flow) Left() []store.Lease {
	if f.round.out || f.staying() == len(f.shards) {
		return nil
	}
	var out []store.Lease
	for _, s := range slices.Clone(f.shards) {
		if f.hasLeft(s) {
			out = append(out, f.leaseOf(s))
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
		if c.gone {
			continue
		}
		for _, e := range c.entries {
			if e != nil && e.shard == s {
				return false
			}
		}
	}
	return true
}

// Hung returns, of a flow that stops, the calls that should have been answered by now:
// the destination answers others, and took half as long at most for them. The caller
// cancels them; those that are not over soon after are not waited for. A transaction is:
// its group ends it.
func (f *Flow) Hung(now time.Duration) []int64 {
	if !f.stopping.on || f.cfg.Transactions {
		return nil
	}
	if f.stopping.since == 0 {
		f.stopping.since = max(now, 1)
	}
	var ids []int64
	for _, c := range f.calls {
		at, hangs := f.hangsAt(c)
		switch {
		case c.gone || c.held || !hangs || now < at:
		case c.canceled == 0:
			c.canceled = max(now, 1)
			ids = append(ids, c.ID)
		default:
			c.gone = true
		}
	}
	return ids
}

// hangsAt is when the next thing is to be done about a call that is not answered.
func (f *Flow) hangsAt(c *Call) (at time.Duration, hangs bool) {
	if c.canceled > 0 {
		return c.canceled + f.cfg.LeaveAfter, true
	}
	return max(f.stopping.since+f.cfg.LeaveAfter, c.sentAt+max(f.cfg.SlowAfter, 2*f.longest)), f.stats.Accepted > 0
}

// GiveUp has a flow that stops wait for no answer any more: what was accepted is
// settled, and everything is given back. It returns how many messages have no answer.
func (f *Flow) GiveUp() (unanswered int) {
	f.stopping.gaveUp = true
	for _, c := range f.calls {
		for _, e := range c.entries {
			if e != nil && e.state == sent && !c.gone {
				unanswered++
			}
		}
		c.gone = true
	}
	return unanswered
}

// wakeStop is when Hung has something to say.
func (f *Flow) wakeStop(sooner func(time.Duration)) {
	if !f.stopping.on || f.cfg.Transactions {
		return
	}
	for _, c := range f.calls {
		if at, hangs := f.hangsAt(c); hangs && !c.gone && !c.held {
			sooner(at)
		}
	}
}

// wakeLeaving is when leaving shards park what they waited for.
func (f *Flow) wakeLeaving(now time.Duration, sooner func(time.Duration)) {
	for _, s := range f.shards {
		if v := s.leaving; v != nil && !v.passed && (v.since == 0 || now < v.since+f.cfg.LeaveAfter) {
			sooner(v.since + f.cfg.LeaveAfter)
		}
	}
}
