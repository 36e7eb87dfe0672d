package engine

import (
	"time"

	"github.com/postbag/postbag"
	"github.com/postbag/postbag/store"
)

// park parks e, whether it is of a window, slow, or parked already.
func (f *Flow) park(e *entry, p store.Park, now time.Duration) {
	switch {
	case e.parked, e.state == slowDrafted:
		f.rewriteRow(e, p, now)
		return
	case e.state == slow: // its row is not written yet: write this one instead
		f.cancelPark(e)
	case e.chain != nil:
		f.letAhead(e, p)
		e.chain.remove(e)
	}
	f.parkInWindow(e, p, now)
}

// parkInWindow parks an entry of a window: the row rides in the settlement that passes it.
func (f *Flow) parkInWindow(e *entry, p store.Park, now time.Duration) {
	f.parkInWindowAs(onDone, e, p, now)
}

// parkInWindowAs is parkInWindow for a message that is done, or slow.
func (f *Flow) parkInWindowAs(by event, e *entry, p store.Park, now time.Duration) {
	f.fill(e, &p)
	if p.Blocking {
		e.chain.unsettled++
	}
	if f.gates(&p) {
		e.chain.gate++
	}
	if p.State == store.ParkHeld {
		f.countHeld(e.shard, p.Topic, 1)
	}
	e.park = &p
	f.finish(by, e, store.TallyParked, now)
}

// cancelPark takes back what parkInWindow did and no settlement has written.
func (f *Flow) cancelPark(e *entry) {
	if e.park.Blocking {
		e.chain.unsettled--
	}
	e.park = nil
}

// fill completes p with what e is. A row whose Hash is zero blocks nothing, see store.Park, and no verdict
// says that its key is clear. A strict shard has such rows if they were parked under another order, without a key.
func (f *Flow) fill(e *entry, p *store.Park) {
	p.Seq, p.Slot, p.Hash, p.Attempts = e.Seq, e.Slot, e.hash(), e.attempts
	p.Blocking = p.Blocking && e.chain != nil && p.Hash != 0
}

// rewriteRow writes the row of a parked message again.
func (f *Flow) rewriteRow(e *entry, p store.Park, now time.Duration) {
	f.fill(e, &p)
	if p.State == store.ParkDead {
		f.died(&p)
	}
	f.draftRow(e.shard, p)
	if p.State == store.ParkDead {
		e.shard.askNewest(p.Hash, p.Seq)
	}
	f.doubted(e, p.State != store.ParkDead)
	f.takeOut(e)
	if p.Blocking {
		f.leaveToRows(e.chain)
		e.chain.cut = e.chain.out > 0
	}
	f.resolve(now, true)
}

// draftRow drafts a parked row again.
func (f *Flow) draftRow(s *shard, p store.Park) {
	f.undraftRow(s, p.Seq)
	if p.Blocking {
		if c := f.chainOf(s, p.Hash); c != nil {
			c.unsettled++
		}
	}
	f.draftWaiting(s, &p)
	if p.State == store.ParkHeld {
		f.countHeld(s, p.Topic, 1)
	}
	s.draft.park = append(s.draft.park, p)
	s.markChanging(p.Seq)
}

// endRow resolves a parked row: it is removed by the next settlement.
func (f *Flow) endRow(e *entry, fate store.Fate, now time.Duration) {
	f.draftEnd(e.shard, store.Resolved{Seq: e.Seq, Hash: e.hash()}, e.ID, fate)
	e.shard.nameNewer(e.hash(), e.Seq, e.ID)
	f.takeOut(e)
	f.resolve(now, true)
}

// draftEnd drafts the end of a parked row.
func (f *Flow) draftEnd(s *shard, r store.Resolved, id postbag.ID, fate store.Fate) {
	f.unremember(r.Seq)
	f.undraftRow(s, r.Seq)
	d := &s.draft
	d.resolve = append(d.resolve, r)
	d.count(r.Seq, id, fate, f.cfg.TallySpan, 1)
	d.count(r.Seq, id, store.TallyParked, f.cfg.TallySpan, -1)
	s.markChanging(r.Seq)
	f.tallied(fate)
	f.goOn(s, r.Hash) // what blocked it was drafted alone
}

// goOn has a key go on if a row that was taken back was the last that blocked it. It forgets the key if nothing is
// known of it any more.
func (f *Flow) goOn(s *shard, hash uint64) {
	if c := f.chainFor(s, hash); c != nil && !c.blocked() {
		f.advance(c)
	}
}

// markChanging notes that the draft changes a row.
func (s *shard) markChanging(seq int64) {
	s.changing[seq] = s.drafts
	if s.turn != nil { // that is one draft, this the next
		s.changing[seq]++
	}
}

// undraftRow takes a park that is drafted and not yet in a turn back, since a
// settlement names a message once.
func (f *Flow) undraftRow(s *shard, seq int64) {
	d := &s.draft
	for i := range d.park {
		if d.park[i].Seq == seq {
			f.rowSettled(s, &d.park[i])
			if d.park[i].State == store.ParkHeld {
				f.countHeld(s, d.park[i].Topic, -1)
			}
			d.park = append(d.park[:i], d.park[i+1:]...)
			return
		}
	}
}

// rowSettled notes that a row that blocks, or waits, is not unsettled any more.
func (f *Flow) rowSettled(s *shard, p *store.Park) {
	switch c := f.chainFor(s, p.Hash); {
	case c == nil:
	case p.Blocking:
		c.unsettled--
	case f.gates(p):
		c.gate--
	}
}

// takeOut takes e, whose row is about to change, out of the flow's hand. What it
// counts for ends with the next settlement.
func (f *Flow) takeOut(e *entry) {
	if !e.parked {
		f.move(e, onRow)
		return
	}
	delete(f.hand, e.Seq)
	if e.chain != nil {
		e.chain.remove(e)
	}
	f.move(e, onRow)
	f.untried(e)
	f.unhold(e)
}

// leaveToRows leaves the parked messages of c that are in hand and not in a call to
// their rows: they are fetched again when they are due.
func (f *Flow) leaveToRows(c *chain) {
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

// parkBehind parks the live messages of a blocked chain behind the one that blocks.
func (f *Flow) parkBehind(c *chain, now time.Duration) {
	for e := c.head; e != nil; {
		next := e.next
		if !e.parked && e.state < sent {
			c.remove(e)
			f.parkInWindow(e, store.Park{State: store.ParkBlocked, Blocking: true}, now)
		}
		e = next
	}
}
