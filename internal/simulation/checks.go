package simulation

import (
	"slices"
	"time"

	"github.com/postbag/postbag/internal/engine"
)

// settled: every position has passed everything, and what is parked is dead, or
// waits for what is dead.
func (w *world) settled() bool {
	s := w.server
	if len(s.shards) != s.wanted {
		return false
	}
	for i := range s.shards {
		sh := &s.shards[i]
		l := s.log.lens(sh.position)
		for _, m := range w.producers.msgs {
			if m.state == committed && sh.has(m.slot) && !l.passed(m) {
				return false
			}
		}
	}
	var slots [][2]int
	for i := range s.shards {
		slots = append(slots, [2]int{s.shards[i].lo, s.shards[i].hi})
	}
	if w.dueSomewhere(slots) || len(s.waiting(slots)) > 0 {
		return false
	}
	for i := range s.rows {
		if r := &s.rows[i]; r.State == engine.InFlight && !r.freed {
			return false
		}
	}
	for _, r := range w.relays {
		if r.flow.Lanes() > 1 || r.told || r.frozen > w.now || len(r.calls)+r.hanging > 0 {
			return false
		}
	}
	return true
}

// dueSomewhere says that a parked message can be tried, now or later. Rows of
// strict order wait for those that an earlier ByKey has left.
func (w *world) dueSomewhere(shards [][2]int) bool {
	s := w.server
	due := false
	for _, slots := range shards {
		foreign := false
		for i := range s.rows {
			r := &s.rows[i]
			foreign = foreign || r.Blocking && r.Hash != 1 && r.Slot >= slots[0] && r.Slot < slots[1]
		}
		s.heads(slots, func(_ int, r *parked, _ time.Duration) {
			due = due || !foreign || r.Hash != 1
		})
	}
	return due
}

// checkDelivered: nothing is lost, and nothing else is sent. With pending, what a
// position has not passed is not lost yet.
func (w *world) checkDelivered(pending bool) {
	s := w.server
	for _, m := range w.producers.msgs {
		if m.state != committed || m.filtered || m.accepted > 0 || m.discarded > 0 {
			continue
		}
		if row, _ := s.row(m.seq); row != nil && row.m == m {
			continue
		}
		if pending && !w.passed(m) {
			continue
		}
		w.failf("P1", "message %d (seq %d) is lost", m.id, m.seq)
		return
	}
}

func (w *world) passed(m *message) bool {
	s := w.server
	for i := range s.shards {
		if sh := &s.shards[i]; sh.has(m.slot) {
			return s.log.lens(sh.position).passed(m)
		}
	}
	return false
}

// checkOrder: first acceptances follow the order of commits, where one
// transaction began after the other had committed, and under Block nothing goes
// before what is parked or was discarded later.
func (w *world) checkOrder() {
	cfg := &w.plan.cfg
	if cfg.OnReject != engine.Block || cfg.Order == engine.Unordered || w.failed != nil {
		return
	}
	if cfg.Order == engine.ByShard && !w.mixed {
		w.checkShardOrder()
		return
	}
	last := make([]*message, w.plan.keys+1)
	missing := make([]*message, w.plan.keys+1)
	for _, m := range w.producers.msgs { // in the order of their keys' locks
		if m.state != committed || m.filtered || m.key == 0 {
			continue
		}
		if m.given > 0 && m.discarded == 0 { // the store forgot that: it may come after all
			continue
		}
		w.checkAfter(last[m.key], missing[m.key], m)
		switch place := m.place(); {
		case place == 0:
			missing[m.key] = m
		case last[m.key] == nil || place > last[m.key].place():
			last[m.key] = m
		}
	}
}

// place is when it was over with m, by the count of first acceptances; zero: it is
// not.
func (m *message) place() int {
	if m.first == 0 && m.discarded > 0 {
		return m.discarded
	}
	return m.first
}

func (w *world) checkAfter(before, missing, m *message) {
	switch {
	case m.first == 0:
	case missing != nil:
		w.failf("P3", "message %d (key %d) was stored, and %d before it was not", m.id, m.key, missing.id)
	case before != nil && before.place() > m.first && before.discarded == 0:
		w.failf("P3", "message %d (key %d) was stored before %d", m.id, m.key, before.id)
	}
}

func (w *world) checkShardOrder() {
	for _, a := range w.producers.msgs {
		if a.state != committed || a.filtered || a.given > 0 && a.discarded == 0 {
			continue
		}
		for _, b := range w.producers.msgs {
			if b.state != committed || b.filtered || a.commit > b.begin || b.first == 0 || !w.together(a.slot, b.slot) {
				continue
			}
			if place := a.place(); place == 0 || place > b.first && a.discarded == 0 {
				w.failf("P3", "message %d was stored before %d", b.id, a.id)
				return
			}
		}
	}
}

// together says that two slots were of one shard all the time.
func (w *world) together(a, b int) bool {
	for _, n := range append([]int{w.plan.shards}, w.shapes...) {
		if shardAt(a, n) != shardAt(b, n) {
			return false
		}
	}
	return true
}

func shardAt(slot, n int) int {
	for i := range n {
		if slot < (i+1)*4096/n {
			return i
		}
	}
	return n
}

// checkLedger: the ledger has every message of the log once, under what became of
// it.
func (w *world) checkLedger() {
	s := w.server
	if s.moved || w.failed != nil {
		return
	}
	var got, want, delivered engine.Tally
	for _, y := range s.ledger {
		got = sum(got, y.Count, y.SeqSum, y.IDSum)
	}
	for _, m := range w.producers.msgs {
		if m.state != committed {
			continue
		}
		want = sum(want, 1, uint64(m.seq), m.sum)
		if !m.filtered && m.discarded == 0 {
			delivered = sum(delivered, 1, uint64(m.seq), m.sum)
		}
	}
	if got != want {
		w.failf("P1", "the ledger counts %+v, the log %+v", got, want)
	}
	if y := s.ledger[engine.Delivered]; w.failed == nil && y != delivered {
		w.failf("P1", "the ledger has %+v delivered, they are %+v", y, delivered)
	}
}

// checkRepeats: every repeat is explained by a fault.
func (w *world) checkRepeats() {
	if w.repeats > w.allowed {
		w.failf("P4", "%d repeats, and the faults explain %d", w.repeats, w.allowed)
	}
}

// checkLeftovers: nothing is kept of what is over, and nobody spins.
func (w *world) checkLeftovers() {
	for _, r := range w.relays {
		if n := r.flow.Held(); n != 0 && w.failed == nil {
			w.failf("engine", "relay %d keeps %d things of what is over: %+v %s", r.number, n, r.flow.Stats(), r.flow.Describe())
		}
	}
	if w.idle > 50+w.steps/4 {
		w.failf("P8", "%d of %d steps were wakes for nothing", w.idle, w.steps)
	}
}

// restTime is how long an idle world is watched.
const restTime = 5 * time.Second

// rest lets the world be for a while: nobody may ask for more than a little.
func (w *world) rest() {
	end := w.now + restTime
	w.run("coming to rest", time.Minute, func() bool { return w.now >= end && !w.expecting() })
	turns, wakes := w.counts.Turns, w.idle
	end = w.now + restTime
	w.run("resting", time.Minute, func() bool { return w.now >= end })
	most := 6 * int(restTime/time.Second) * len(w.relays) // by clocks that may be half as fast again
	if t, i := w.counts.Turns-turns, w.idle-wakes; w.failed == nil && (t > most || i > most) {
		w.failf("P8", "%d idle relays made %d turns in %v, and woke %d times for nothing", len(w.relays), t, restTime, i)
	}
}

// expecting says that shards are to change hands: a relay looks for those that
// another one is to give, or the heartbeat of one that is gone runs out.
func (w *world) expecting() bool {
	for _, r := range w.relays {
		if r.expecting && r.now() < r.expectUntil {
			return true
		}
	}
	alive := 0
	for i := range w.server.relays {
		h := &w.server.relays[i]
		if h.dead {
			continue
		}
		alive++
		if !slices.ContainsFunc(w.relays, func(r *relay) bool { return r.id == h.id }) {
			return true
		}
	}
	return alive != len(w.relays)
}
