package engine

import (
	"slices"
	"time"
)

// Idle says that nothing is in hand and nothing waits for a settlement.
func (f *Flow) Idle() bool {
	if f.round.out || len(f.calls) > 0 || len(f.hand) > 0 {
		return false
	}
	for _, l := range f.groups {
		if !l.empty() || l.unsettled() || l.more {
			return false
		}
	}
	return true
}

// Drained says that nothing can be delivered now: all was read, nothing is in
// hand, and no parked message is known to be due.
func (f *Flow) Drained(now time.Duration) bool {
	if !f.Idle() || f.dirty || f.circuit.state != Closed {
		return f.circuit.state == Open && f.stuck()
	}
	if p := &f.due; p.asking || p.known && (p.next <= now || p.empty > 0 && p.empty < emptyRounds) {
		return false
	}
	return !f.due.asking && !f.testing(now) && (f.readAll() || f.Overfull())
}

// testing says that Held messages can be delivered, or may be: a topic works again,
// or is about to be tried, or a pause will end, as that of a whole subscription.
func (f *Flow) testing(now time.Duration) bool {
	for _, t := range f.topics.list {
		if t.paused && !t.works() || t.state == Probing || t.until <= now || t.works() && t.empty < emptyRounds {
			return true
		}
	}
	return false
}

// Settled says that all there was is read and settled, and that no parked message waits
// for its time, or for an earlier one of its key, be that one dead. What a destination
// that is down keeps in hand or unread is not.
func (f *Flow) Settled() bool {
	return f.Idle() && !f.dirty && !f.due.asking && !f.due.known && f.readAll() && !f.blocking() && f.topics.held == 0
}

// blocking: rows are parked, or may be, that others wait for.
func (f *Flow) blocking() bool {
	return slices.ContainsFunc(f.shards, func(s *shard) bool { return s.chains.len() > 0 })
}

// readAll: the last read of every group found nothing. One that only ends a window may be
// of long ago: the owner before has begun it.
func (f *Flow) readAll() bool {
	for _, l := range f.groups {
		if !l.dry || !l.anew {
			return false
		}
	}
	return true
}

// emptyRounds is how many answers in a row must bring nothing before what the store
// calls due is believed to be out of reach.
const emptyRounds = 4

// stuck: all that is in hand waits for a destination that is down.
func (f *Flow) stuck() bool { return len(f.calls) == 0 && !f.round.out && f.circuit.failures > 1 }

// Urgent says that a turn is out, or that the next one writes more than a position
// that moved over nothing: that waits for its time, and nothing hangs on it.
func (f *Flow) Urgent() bool {
	if f.round.out {
		return true
	}
	if f.transacting() {
		return false
	}
	f.collect()
	for _, s := range f.shards {
		if s.unsettled() { // a settlement of which parts are left counts, too
			return true
		}
	}
	return false
}

// Hurry has the next turn write what is resolved, without waiting for more.
func (f *Flow) Hurry() { f.urgent = true }
