package simulation

import (
	"slices"
	"time"

	"github.com/postbag/postbag/store"
)

// settled: every position has passed everything, and what is parked is dead, or
// waits for what is dead.
func (w *world) settled() bool {
	s := w.server
	if len(s.shards) != s.wanted || s.unseen() {
		return false
	}
	for _, m := range w.producers.msgs[w.behind:] { // faults have ended: what was passed stays so
		if m.state == committed && !w.passed(m) && !w.replay.endsBefore(m) {
			return false
		}
		w.behind++
	}
	slots := w.slots[:0]
	for i := range s.shards {
		slots = append(slots, store.Slots{Lo: s.shards[i].lo, Hi: s.shards[i].hi})
	}
	w.slots = slots
	if w.dueSomewhere(slots) || len(s.waiting(slots)) > 0 {
		return false
	}
	for i := range s.rows {
		if r := &s.rows[i]; r.State == store.ParkInFlight && !r.freed {
			return false
		}
	}
	if len(w.broker.marks.open) > 0 {
		return false
	}
	for _, r := range w.relays {
		if w.replay == nil && r.flow.Groups() > 1 || r.told || r.frozen > w.now || len(r.calls)+r.hanging > 0 {
			return false
		}
	}
	return true
}

// dueSomewhere says that a parked message can be tried, now or later. Rows of
// strict order wait for those that an earlier ByKey has left.
func (w *world) dueSomewhere(shards []store.Slots) bool {
	s := w.server
	due := false
	for _, slots := range shards {
		foreign := false
		for i := range s.rows {
			r := &s.rows[i]
			foreign = foreign || r.Blocking && r.Hash != 1 && r.Slot >= slots.Lo && r.Slot < slots.Hi
		}
		s.firsts(slots, func(_ int, r *parked) {
			_, counts := r.counts()
			due = due || (counts || r.State == store.ParkHeld) && (!foreign || r.Hash != 1)
		})
	}
	return due
}

// checkLedger: the ledger has every message of the log once, under what became of
// it.
func (w *world) checkLedger() {
	s := w.server
	if s.moved || w.failed != nil {
		return
	}
	var got, want, delivered, least store.Tally
	for _, y := range s.ledger {
		got = sum(got, y.Count, y.SeqSum, y.IDSum)
	}
	for _, m := range w.producers.msgs {
		if m.state != committed {
			continue
		}
		want = sum(want, 1, uint64(m.seq), m.sum)
		if !m.filtered && !m.discarded && (!m.shifting || m.accepted > 0) {
			delivered = sum(delivered, 1, uint64(m.seq), m.sum)
			if !m.shifting {
				least = sum(least, 1, uint64(m.seq), m.sum)
			}
		}
	}
	if got != want {
		w.failf("P1", "the ledger counts %+v, the log %+v", got, want)
	}
	// What shifts may have been accepted, and be filtered when it was read again.
	if y := s.ledger[store.TallyDelivered]; w.failed == nil && y != delivered && (delivered == least || y.Count < least.Count || y.Count > delivered.Count) {
		w.failf("P1", "the ledger has %+v delivered, they are %+v", y, delivered)
	}
}

// checkLeftovers: nothing is kept of what is over, and nobody spins. A relay may still believe that a key is blocked by a row that
// went with an emptied log, if nobody had to notice that. The next message of the key shows it.
func (w *world) checkLeftovers() {
	for _, r := range w.relays {
		if n := r.flow.Held(); n > w.server.vanished && w.failed == nil {
			w.failf("engine", "relay %d keeps %d things of what is over: %+v %s", r.number, n, r.flow.Stats(), r.flow.Describe())
		}
	}
	if w.idle > 50+w.steps/4 {
		w.failf("P8", "%d of %d steps were wakes for nothing", w.idle, w.steps)
	}
}

// restTime is how long an idle world is watched.
const restTime = 5 * time.Second

// rest lets the world be for a while: nobody may ask for more than a little. A relay may notice only then that the log was
// emptied, by what it alone remembers. Or relays still share the shards among themselves. Then the world is watched once more.
func (w *world) rest() {
	for range 3 {
		w.comeToRest()
		before := w.asked()
		end, begunAt, epoch := w.now+restTime, w.server.begunAt, w.server.epoch
		w.run("resting", time.Minute, func() bool { return w.now >= end })
		if w.failed != nil {
			return
		}
		if w.server.begunAt == begunAt && w.server.epoch == epoch && !w.doubted() {
			w.judgeRest(before, w.asked())
			return
		}
	}
	w.failf("P8", "the numbering is begun again, or shards change hands, again and again while nobody writes")
}

func (w *world) comeToRest() {
	end := w.now + restTime
	w.run("coming to rest", time.Minute+w.lingering()+w.server.pausedFor(), func() bool {
		s := w.server // a log that was emptied may be noticed only now, and then all shards are taken again
		return w.now >= max(end, s.begunAt+restTime) && !w.expecting() && !s.unseen() && !w.doubted() && s.pausedFor() == 0
	})
}

// asked is what relays did so far.
type asked struct{ turns, wakes, beats, rounds int }

func (w *world) asked() asked { return asked{w.counts.Turns, w.idle, w.beats, w.rounds} }

func (w *world) judgeRest(before, after asked) {
	turns, wakes, beats := after.turns-before.turns, after.wakes-before.wakes, after.beats-before.beats
	most := 6 * int(restTime/time.Second) * len(w.relays) // by clocks that may be half as fast again
	if turns > most || wakes > most {
		w.failf("P8", "%d idle relays made %d turns in %v, and woke %d times for nothing", len(w.relays), turns, restTime, wakes)
		return
	}
	most = 2 * (1 + int(9*restTime/(2*w.plan.ttl))) * len(w.relays) // three a TTL, by such clocks, and as many again
	if beats > most {
		w.failf("P8", "%d idle relays made %d heartbeats in %v, of a TTL of %v", len(w.relays), beats, restTime, w.plan.ttl)
	}
	w.judgeHouse(after.rounds - before.rounds)
}

// doubted says that a relay has read what does not fit the log, and is still to have that looked at. One that is gone took its
// doubt with it.
func (w *world) doubted() bool {
	return w.server.doubted && slices.ContainsFunc(w.relays, func(r *relay) bool { return r.core.Doubted() })
}

// lingering is how long a relay that is gone may still be taken for one that lives.
func (w *world) lingering() time.Duration {
	if w.coming > 0 {
		return max(w.server.longest(), hungFor+w.plan.ttl)
	}
	return w.server.longest()
}

// expecting says that shards are to change hands: a relay looks for those that
// another one is to give, or the heartbeat of one that is gone runs out, or has still
// to come, as one that hung while its relay was killed; or that they just did, and
// have still to be read to where they were.
func (w *world) expecting() bool {
	if w.coming > 0 || w.plan.faults.has(UnreadableFilters) && w.uneven() {
		return true
	}
	held := 0
	for _, r := range w.relays {
		if r.core.Expecting(r.now()) || !r.flow.Idle() {
			return true
		}
		held += len(r.flow.Leases())
	}
	if held != len(w.server.shards) || w.plan.faults.has(Housekeeping) && w.server.house.owner == "" {
		return true
	}
	alive := 0
	for i := range w.server.relays {
		h := &w.server.relays[i]
		if h.dead {
			continue
		}
		alive++
		if !slices.ContainsFunc(w.relays, func(r *relay) bool { return r.id() == h.id }) {
			return true
		}
	}
	return alive != len(w.relays)
}
