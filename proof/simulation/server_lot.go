package simulation

import (
	"slices"
	"time"

	"github.com/postbag/postbag/store"
)

// parked is a row of the parking lot.
type parked struct {
	store.Park

	m     *message
	due   time.Duration
	freed bool // in flight, and its shard changed hands
}

// command is an operator's command.
type command struct {
	id   store.CommandID
	kind store.CommandKind
	m    *message
	done bool
}

// row returns the row of a message, and where it is or belongs.
func (s *server) row(seq int64) (*parked, int) {
	i, found := slices.BinarySearchFunc(s.rows, seq, func(r parked, seq int64) int {
		switch {
		case r.Seq < seq:
			return -1
		case r.Seq > seq:
			return 1
		}
		return 0
	})
	if !found {
		return nil, i
	}
	return &s.rows[i], i
}

func (s *server) park(p *store.Park) {
	m := s.at(p.Seq)
	if m == nil {
		return
	}
	row, i := s.row(p.Seq)
	switch {
	case row == nil:
		s.rows = slices.Insert(s.rows, i, parked{})
		row = &s.rows[i]
	case p.State == store.ParkBlocked && s.moved: // see package store: it never replaces another
		return
	case p.State == store.ParkBlocked:
		s.w.failf("engine", "message %d is parked as blocked, and has a row already", m.id)
		return
	}
	*row = parked{Park: *p, m: m, due: s.now() + p.Delay}
	row.Cause, row.DeadTo, row.DeadTopic = 0, "", "" // they are of the settlement
	row.Blocking = p.Blocking && p.Hash != 0         // see package store: a Hash of zero blocks nothing
}

// blocks says that a hash has a blocking row in the shard.
func (s *server) blocks(sh *shard, hash uint64) bool {
	for i := range s.rows {
		if r := &s.rows[i]; r.Blocking && r.Hash == hash && sh.has(r.Slot) {
			return true
		}
	}
	return false
}

// cleared returns the hashes that t touched and that block nothing any more. Zero, which never does, is none of them.
func (s *server) cleared(sh *shard, t *store.Settlement) []uint64 {
	var out []uint64
	ask := func(h uint64) {
		if h != 0 && !slices.Contains(out, h) && !s.blocks(sh, h) {
			out = append(out, h)
		}
	}
	for i := range t.Park {
		ask(t.Park[i].Hash)
	}
	for _, r := range t.Resolve {
		ask(r.Hash)
	}
	return out
}

// blocked are the hashes with blocking rows in a range of slots, and the topics with
// Held ones.
func (s *server) blocked(lo, hi int) (out store.Blocks) {
	out.Waiting = s.allWaiting(lo, hi)
	for i := range s.rows {
		r := &s.rows[i]
		if r.Slot < lo || r.Slot >= hi {
			continue
		}
		if r.Blocking && !slices.Contains(out.Keys, r.Hash) {
			out.Keys = append(out.Keys, r.Hash)
		}
		if r.State == store.ParkHeld {
			out.Held = hold(out.Held, r.Topic)
		}
	}
	return out
}

// land makes what is in flight in a shard due: it changed hands.
func (s *server) land(sh *shard) {
	for i := range s.rows {
		if r := &s.rows[i]; r.State == store.ParkInFlight && sh.has(r.Slot) {
			r.freed = true
			if s.w.plan.cfg.CountFirst {
				r.m.cut = max(r.m.cut, r.Attempts-r.m.attempts())
			}
		}
	}
}

// counts says that a row that is first of its hash can be tried, and when.
func (r *parked) counts() (time.Duration, bool) {
	switch {
	case r.State == store.ParkRetrying:
		return r.due, true
	case r.State == store.ParkBlocked, r.State == store.ParkInFlight && r.freed:
		return 0, true
	}
	return 0, false
}

// heads calls do with the rows of slots that count.
func (s *server) heads(slots store.Slots, do func(i int, r *parked, due time.Duration)) {
	s.firsts(slots, func(i int, r *parked) {
		if due, ok := r.counts(); ok {
			do(i, r, due)
		}
	})
}

// firsts calls do with the rows of slots that no other goes before.
func (s *server) firsts(slots store.Slots, do func(i int, r *parked)) {
	var seen []uint64
	for i := range s.rows {
		r := &s.rows[i]
		if r.Slot < slots.Lo || r.Slot >= slots.Hi {
			continue
		}
		if r.Blocking {
			if slices.Contains(seen, r.Hash) {
				continue
			}
			seen = append(seen, r.Hash)
		}
		do(i, r)
	}
}

// due answers a request for parked messages.
func (s *server) due(d *store.Due) (out []store.Parked) {
	if len(d.Topics) > 0 {
		return s.heldFor(d)
	}
	type head struct {
		at    int
		due   time.Duration
		slots store.Slots
	}
	var heads []head
	now := s.now()
	for _, slots := range d.Slots {
		s.heads(slots, func(i int, r *parked, due time.Duration) {
			if due <= now && !slices.Contains(d.Skip, r.Seq) {
				heads = append(heads, head{i, due, slots})
			}
		})
	}
	slices.SortStableFunc(heads, func(a, b head) int { return int(a.due - b.due) })
	for _, h := range heads {
		first := &s.rows[h.at]
		out = append(out, dueMessage(first))
		for i, n := h.at+1, 0; first.Blocking && i < len(s.rows) && n < d.Followers; i++ {
			r := &s.rows[i]
			if r.Hash != first.Hash || !r.Blocking || r.Slot < h.slots.Lo || r.Slot >= h.slots.Hi {
				continue
			}
			if r.State != store.ParkBlocked {
				break
			}
			out = append(out, dueMessage(r))
			n++
		}
	}
	return within(d, out)
}

// within is as much of out as was asked for.
func within(d *store.Due, out []store.Parked) []store.Parked {
	out = out[:min(len(out), d.Limit)]
	bytes := d.Bytes
	for i := range out {
		if bytes -= out[i].Size(); bytes <= 0 {
			return out[:i+1]
		}
	}
	return out
}

// dueMessage is a row as stores show it: one in flight is Retrying once its owner is gone.
func dueMessage(r *parked) store.Parked {
	p := store.Parked{Record: r.m.record(), Park: r.Park}
	if r.freed {
		p.State = store.ParkRetrying
	}
	return p
}

// nextDue is how long until a parked message of the slots is due.
func (s *server) nextDue(slots []store.Slots) time.Duration {
	wait := time.Duration(-1)
	if len(s.rows) == 0 {
		return wait
	}
	now := s.now()
	for _, sl := range slots {
		s.heads(sl, func(_ int, _ *parked, due time.Duration) {
			if d := max(due-now, 0); wait < 0 || d < wait {
				wait = d
			}
		})
	}
	return wait
}

// order queues a command for a message.
func (s *server) order(kind store.CommandKind, m *message) {
	for i := range s.commands {
		if c := &s.commands[i]; c.m == m && c.kind == kind && !c.done {
			return
		}
	}
	if kind == store.Discard && !m.unwanted {
		m.unwanted, m.ordered = true, s.w.instant()
	}
	m.retried = m.retried || kind == store.Retry
	s.commandID++
	s.commands = append(s.commands, command{id: s.commandID, kind: kind, m: m})
}

// waiting returns the commands of the slots. One whose message is not parked is closed
// once the position of its shard has passed it.
func (s *server) waiting(slots []store.Slots) []store.Command {
	var out []store.Command
	for i := range s.commands {
		c := &s.commands[i]
		if c.done || !wants(slots, c.m.slot) {
			continue
		}
		switch row, _ := s.row(c.m.seq); {
		case row != nil && row.m == c.m:
			out = append(out, store.Command{ID: c.id, Ref: s.w.ref, Kind: c.kind, Park: row.Park, Message: c.m.name()})
		case s.at(c.m.seq) != c.m || c.m.state != committed || s.w.passed(c.m):
			c.done = true
		default:
			p := store.Park{Seq: c.m.seq, Slot: c.m.slot, Hash: c.m.hash()}
			out = append(out, store.Command{ID: c.id, Ref: s.w.ref, Kind: c.kind, Park: p, Message: c.m.name()})
		}
	}
	s.commands = slices.DeleteFunc(s.commands, func(c command) bool { return c.done })
	return out
}
