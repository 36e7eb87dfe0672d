package engine

import (
	"time"

	"github.com/postbag/postbag"
	"github.com/postbag/postbag/store"
)

// park parks e, whether it is of a window, slow, or parked already.
func (f *Flow) park(e *entry, p store.Park, now time.Duration) {
	switch {
	case e.parked, e.state == lain:
		f.repark(e, p, now)
		return
	case e.state == aside: // its row is not written yet: write this one instead
		f.unlay(e)
	case e.chain != nil:
		e.chain.remove(e)
	}
	f.lay(e, p, now)
}

// lay parks an entry of a window: the row rides in the settlement that passes it.
func (f *Flow) lay(e *entry, p store.Park, now time.Duration) { f.layAs(done, e, p, now) }

// layAs is lay for a message that is done, or set aside.
func (f *Flow) layAs(to state, e *entry, p store.Park, now time.Duration) {
	f.fill(e, &p)
	if p.Blocking {
		e.chain.unsettled++
	}
	if p.State == store.ParkHeld {
		f.countHeld(e.shard, p.Topic, 1)
	}
	e.park = &p
	f.finish(to, e, store.TallyParked, now)
}

// unlay takes back what lay did and no settlement has written.
func (f *Flow) unlay(e *entry) {
	if e.park.Blocking {
		e.chain.unsettled--
	}
	e.park = nil
}

// fill completes p with what e is.
func (f *Flow) fill(e *entry, p *store.Park) {
	p.Seq, p.Slot, p.Hash, p.Attempts = e.Seq, e.Slot, e.hash(), e.attempts
	p.Blocking = p.Blocking && e.chain != nil
}

// repark writes the row of a parked message again.
func (f *Flow) repark(e *entry, p store.Park, now time.Duration) {
	f.fill(e, &p)
	if p.State == store.ParkDead {
		f.stats.Dead++
	}
	f.row(e.shard, p)
	f.doubted(e, p.State != store.ParkDead)
	f.leaveHand(e)
	if p.Blocking {
		f.dropHand(e.chain)
		e.chain.cut = e.chain.out > 0
	}
	f.resolve(now, true)
}

// row drafts a parked row anew.
func (f *Flow) row(s *shard, p store.Park) {
	f.withdraw(s, p.Seq)
	if p.Blocking {
		if c := f.chainOf(s, p.Hash); c != nil {
			c.unsettled++
		}
	}
	if p.State == store.ParkHeld {
		f.countHeld(s, p.Topic, 1)
	}
	s.draft.park = append(s.draft.park, p)
	s.enterLimbo(p.Seq)
}

// unpark resolves a parked row: it is removed by the next settlement.
func (f *Flow) unpark(e *entry, fate store.Fate, now time.Duration) {
	f.unrow(e.shard, store.Resolved{Seq: e.Seq, Hash: e.hash()}, e.ID, fate)
	f.leaveHand(e)
	f.resolve(now, true)
}

// unrow drafts the end of a parked row.
func (f *Flow) unrow(s *shard, r store.Resolved, id postbag.ID, fate store.Fate) {
	f.unremember(r.Seq)
	f.withdraw(s, r.Seq)
	d := &s.draft
	d.resolve = append(d.resolve, r)
	d.count(r.Seq, id, fate, f.cfg.TallySpan, 1)
	d.count(r.Seq, id, store.TallyParked, f.cfg.TallySpan, -1)
	s.enterLimbo(r.Seq)
	f.tallied(fate)
	if c := f.chainFor(s, r.Hash); c != nil && !c.blocked() { // what blocked it was drafted alone
		f.advance(c)
	}
}

// enterLimbo notes that the draft changes a row.
func (s *shard) enterLimbo(seq int64) {
	s.limbo[seq] = s.drafts
	if s.turn != nil { // that is one draft, this the next
		s.limbo[seq]++
	}
}

// withdraw takes a park that is drafted and not yet in a turn back, since a
// settlement names a message once.
func (f *Flow) withdraw(s *shard, seq int64) {
	d := &s.draft
	for i := range d.park {
		if d.park[i].Seq == seq {
			f.confirm(s, &d.park[i])
			if d.park[i].State == store.ParkHeld {
				f.countHeld(s, d.park[i].Topic, -1)
			}
			d.park = append(d.park[:i], d.park[i+1:]...)
			return
		}
	}
}

// confirm notes that a blocking row is not unsettled any more.
func (f *Flow) confirm(s *shard, p *store.Park) {
	if c := f.chainFor(s, p.Hash); c != nil && p.Blocking {
		c.unsettled--
	}
}

// leaveHand takes e, whose row is about to change, out of the flow's hand. What it
// counts for ends with the next settlement.
func (f *Flow) leaveHand(e *entry) {
	if e.counted {
		e.shard.draft.sent++
		e.counted = false
	}
	if !e.parked {
		f.move(e, past)
		return
	}
	delete(f.hand, e.Seq)
	if e.chain != nil {
		e.chain.remove(e)
	}
	f.move(e, past)
	f.untried(e)
	f.unhold(e)
}

// dropHand leaves the parked messages of c that are in hand and not in a call to
// their rows: they are fetched again when they are due.
func (f *Flow) dropHand(c *chain) {
	for e := c.head; e != nil; {
		next := e.next
		if e.parked && e.state != sent {
			c.remove(e)
			delete(f.hand, e.Seq)
			f.forget(e)
		}
		e = next
	}
}

// bank parks the live messages of a blocked chain behind the one that blocks.
func (f *Flow) bank(c *chain, now time.Duration) {
	for e := c.head; e != nil; {
		next := e.next
		if !e.parked && e.state < sent {
			c.remove(e)
			f.lay(e, store.Park{State: store.ParkBlocked, Blocking: true}, now)
		}
		e = next
	}
}
