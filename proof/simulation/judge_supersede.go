package simulation

import (
	"math"

	"github.com/postbag/postbag/internal/engine"
	"github.com/postbag/postbag/store"
	"github.com/postbag/postbag/store/storekit"
)

// Under Superseding a subscription drops what was rejected once a newer message of its key was
// delivered. Two things must hold: nothing is delivered after a newer message of its key, and nothing is
// superseded unless a newer message of its key is in the broker.
//
// The broker may say no to a message while an earlier call with it is still under way, or calls with it may get no
// answer so often that it counts as a no. What such a call brings comes too late for anybody to know of it, and is held
// against nobody. Nor is what a relay sends whose leases ended early, by a clock that jumped: it knows nothing of what
// the next owner does.
//
// Nor is what a filter that changes does between two reads of a message. The first owner leaves it out and
// delivers a newer one, the next takes it: it comes behind that one. Or the first delivers it, and the next
// leaves it out: nobody knows that it is in the broker, and an older one that waits comes behind it.

func (w *world) drawSuperseding(c *engine.Config) {
	if w.plan.faults.has(Superseding) && !c.Transactions {
		c.OnReject, c.Order = engine.Supersede, engine.ByKey
		w.plan.mostSuperseded = w.of(store.MostSuperseded, 1, 2)
	}
}

// moment numbers what calls and the broker do.
func (w *world) moment() int {
	w.moments++
	return w.moments
}

// checkNewer is told that the broker is about to store a message that a call has brought.
func (w *world) checkNewer(d *delivery, m *message) {
	if w.plan.cfg.OnReject != engine.Supersede || m.key == 0 || m.no > d.begun || d.robbed {
		return
	}
	if m.accepted == 0 && !w.mixed && !w.rewoundOnce && !m.retried && !m.unwanted && !m.expired && !m.copied && !m.emptied && !m.leftOut {
		for _, o := range w.producers.msgs {
			if o.key == m.key && o.inTurn && o.seq > m.seq && o.commit > m.commit && m.commit > 0 && !o.copied && !o.emptied && !o.leftOut {
				w.failf("P3", "message %d of key %d is delivered after message %d, which is newer", m.id, m.key, o.id)
			}
		}
	}
	m.inTurn = true
}

// robbed says that the store takes a relay for dead, which a jump of a clock can do to one that lives.
func (r *relay) robbed() bool {
	h := r.w.server.heartbeat(r.id())
	return r.w.plan.faults.has(StoreClock|RelayClocks) && (h == nil || h.dead)
}

// supersedeFirst ends what waits before a settlement is applied, as many rows as one may, and says whether there are
// more.
func (s *server) supersedeFirst(sh *shard, t *store.Settlement) (n int64, more bool) {
	without := storekit.Rewritten(t)
	return s.supersede(sh, t, s.w.plan.mostSuperseded, func(seq int64) bool { return without[seq] })
}

// supersedeLast ends what the settlement parked itself.
func (s *server) supersedeLast(sh *shard, t *store.Settlement) int64 {
	n, _ := s.supersede(sh, t, math.MaxInt, func(int64) bool { return false })
	return n
}

// supersede ends the rows that wait for messages that were delivered, as package store says, and returns how many
// they are, and whether there are more than most.
func (s *server) supersede(sh *shard, t *store.Settlement, most int, stays func(seq int64) bool) (n int64, more bool) {
	for i := range t.Supersede {
		k := &t.Supersede[i]
		if k.Seq == 0 {
			continue
		}
		by := s.w.named(k.ID)
		kept := s.rows[:0]
		for _, r := range s.rows {
			ends := r.State == store.ParkRetrying && !r.Blocking && r.Hash == k.Hash && r.Seq < k.Seq && sh.has(r.Slot) && !stays(r.Seq)
			if more = more || ends && n >= int64(most); more || !ends {
				kept = append(kept, r)
				continue
			}
			if by.accepted == 0 || by.hash() != k.Hash || by.seq <= r.Seq && !s.moved {
				s.w.failf("P1", "message %d is superseded by message %d, which is not a newer one of its key in the broker", r.m.id, by.id)
			}
			n++
			s.supersededBy(r.m)
		}
		s.rows = kept
	}
	return n, more
}

// supersededBy counts a message as superseded that was parked.
func (s *server) supersededBy(m *message) {
	m.discarded, m.given = true, true
	s.w.discarded(m, true)
	s.discarded = append(s.discarded, m)
	s.ledger[store.TallyParked] = sum(s.ledger[store.TallyParked], -1, -uint64(m.seq), -m.sum)
	s.ledger[store.TallySuperseded] = sum(s.ledger[store.TallySuperseded], 1, uint64(m.seq), m.sum)
}

// waitingOf is what waits of the keys that a settlement named.
func (s *server) waitingOf(sh *shard, t *store.Settlement) (out []store.Waiting) {
	for i := range t.Supersede {
		for _, left := range s.allWaiting(sh.lo, sh.hi) {
			if left.Hash == t.Supersede[i].Hash {
				out = append(out, left)
			}
		}
	}
	return out
}

// allWaiting is what waits in a range of slots.
func (s *server) allWaiting(lo, hi int) (out []store.Waiting) {
	at := map[uint64]int{}
	for i := range s.rows {
		r := &s.rows[i]
		if r.State != store.ParkRetrying || r.Blocking || r.Hash == 0 || r.Slot < lo || r.Slot >= hi {
			continue
		}
		if k, known := at[r.Hash]; known {
			out[k].Seq = r.Seq // rows are by seq
			continue
		}
		at[r.Hash] = len(out)
		out = append(out, store.Waiting{Hash: r.Hash, Seq: r.Seq})
	}
	return out
}
