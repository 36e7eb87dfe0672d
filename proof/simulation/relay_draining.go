package simulation

import (
	"slices"
	"time"

	"github.com/postbag/postbag/broker"
)

// drainOne has a relay come that ends when it has delivered all it can.
func (w *world) drainOne() {
	if len(w.relays) < 5 {
		w.addRelay(true)
	}
}

// passDrain has all relays stop, and one that drains do the rest, alone.
func (w *world) passDrain() {
	if !w.plan.faults.has(Drains) {
		return
	}
	w.broker.topics = [maxTopics]broker.Outcome{}
	for _, r := range w.relays {
		if !r.told {
			r.told = true
			w.schedule(0, r, r, relayStops)
		}
	}
	limit := deliverLimit + w.lingering()
	w.passes(time.Second, w.deserted)
	w.run("stopping", limit, w.deserted)
	w.alone = true
	w.addRelay(true)
	w.run("draining", limit, w.deserted)
	w.alone = false
	w.newRelay()
}

// passes lets time pass, until something is so, also if nothing else happens.
func (w *world) passes(step time.Duration, until func() bool) {
	if !until() {
		w.after(step, nil, func() { w.passes(step, until) })
	}
}

// deserted says that there is no relay, nor one that the store takes for alive, nor a
// handler's transaction that one has left: a drain ends where nothing comes through.
func (w *world) deserted() bool {
	s := w.server
	return len(w.relays)+w.coming+len(w.broker.marks.open) == 0 && !slices.ContainsFunc(s.relays, func(h heartbeat) bool { return !h.dead && s.now() < h.expires })
}

// drained looks at a relay that has just found that nothing is left. If it is alone, all must be delivered, or parked.
func (w *world) drained(r *relay) {
	r.told = true
	if !w.alone || w.server.moved { // of rows of another cluster a position says little
		return
	}
	w.counts.Drains++
	for _, m := range w.producers.msgs {
		if m.state == committed && !w.passed(m) {
			w.failf("P1", "relay %d has drained, and message %d is neither delivered nor parked: %s", r.number, m.id, w.describe())
			return
		}
	}
}
