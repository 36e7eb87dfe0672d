package engine

import (
	"time"

	"github.com/postbag/postbag/store"
)

// Commands takes the commands that the turn that just landed brought. One that is
// being carried out, or whose shard is not the flow's own or came after that turn
// was made, is ignored: it comes again with the next turn.
func (f *Flow) Commands(now time.Duration, commands []store.Command) {
	for i := range commands {
		c := &commands[i]
		s := f.bySlot[c.Park.Slot]
		if s == nil || s.leaving != nil || s.since >= f.round.landed {
			continue
		}
		d := c.Done()
		if _, known := s.commanded[d]; !known && f.obey(s, c, now) {
			s.commanded[d] = struct{}{}
			s.draft.done = append(s.draft.done, d)
			f.resolve(now, true)
		}
	}
}

// obey carries out c, or says that it must wait: for an answer that is out, or
// for a settlement.
func (f *Flow) obey(s *shard, c *store.Command, now time.Duration) bool {
	seq := c.Park.Seq
	if c.Park.State == 0 {
		return f.obeyPending(s, c, now)
	}
	if d, doomed := s.toDiscard[seq]; doomed && !d.struck { // it was parked meanwhile
		delete(s.toDiscard, seq)
	}
	if _, changing := s.changing[seq]; changing || f.waits(&c.Park) && s.overtakenBy(c.Park.Hash, seq) || f.flying(seq) {
		return false
	}
	e := f.hand[seq]
	switch {
	case c.Kind == store.Discard:
		if e != nil {
			f.leaveToRow(e)
		}
		f.unheld(s, c)
		s.askNewest(c.Park.Hash, seq)
		f.draftEnd(s, store.Resolved{Seq: seq, Hash: c.Park.Hash}, c.Message, store.TallyDiscarded)
	case e != nil:
		e.attempts, e.alone, e.retried = 0, false, true
	case f.retryPaused(s, c):
	case c.Park.State != store.ParkBlocked:
		p := c.Park
		f.tryThoughHeld(s, c)
		p.State, p.Attempts, p.Delay, p.Reason, p.Topic = store.ParkRetrying, 0, 0, reasonRetried, ""
		if c.Park.State == store.ParkDead && f.supersedes() && p.Hash > strictHash {
			p.Blocking = true // it is sent, whatever was delivered since: nothing newer ends it before
		}
		f.draftRow(s, p)
		if c := f.chainFor(s, p.Hash); c != nil && p.Blocking {
			f.parkBehind(c, now)
			f.advance(c)
		}
	}
	return true
}

// flying: an answer for the message is out.
func (f *Flow) flying(seq int64) bool {
	for _, c := range f.calls {
		for _, e := range c.entries {
			if e != nil && e.Seq == seq && !e.shard.lost {
				return true
			}
		}
	}
	return false
}

// leaveToRow leaves e, and what is in hand of its key and not in a call, to their
// rows.
func (f *Flow) leaveToRow(e *entry) {
	if c := e.chain; c != nil {
		f.leaveToRows(c)
		f.advance(c)
		return
	}
	f.leaveAlone(e)
}

// leaveAlone leaves a parked message that is in hand to its row.
func (f *Flow) leaveAlone(e *entry) {
	if e.chain != nil {
		e.chain.remove(e)
	}
	delete(f.hand, e.Seq)
	f.forget(e)
}
