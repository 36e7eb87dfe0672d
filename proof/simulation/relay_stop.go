package simulation

import (
	"slices"
	"time"
)

// stopped is how it was when a relay was told to stop.
type stopped struct {
	at      time.Duration
	hand    int  // messages that it had read and not settled
	answers bool // the destination had accepted something from it
}

// stop begins the shutdown, see relay's loop.
func (r *relay) stop() {
	if r.core.Stops() {
		return
	}
	r.core.Stop(r.now())
	r.carryOut()
	r.wake()
}

// stops notes how it is as a stop begins.
func (r *relay) stops() {
	s := r.flow.Stats()
	r.stopped = stopped{at: r.now(), hand: s.Unsettled + s.Unsent, answers: s.Accepted > 0}
	if r.core.Drained() {
		r.w.drained(r)
	}
}

// endCalls ends calls to the destination: what is not answered by now is unknown. A
// transaction ends with its lane.
func (r *relay) endCalls(which func(*delivery) bool) {
	if r.w.plan.cfg.Transactions {
		return
	}
	for _, d := range slices.Clone(r.calls) {
		if which(d) {
			r.worked++
			r.w.schedule(0, r, d, callGivenUp)
		}
	}
}

// over says that everything is given back, or that the time for it is out.
func (r *relay) over() bool {
	if !r.core.Over(r.now()) {
		return false
	}
	if r.core.Left() {
		for _, d := range slices.Clone(r.calls) {
			r.w.excuse("no answer", "broker", len(d.answers))
		}
	} else {
		r.w.excuse("grace", "relay "+r.id(), r.w.plan.cfg.InFlight)
	}
	r.w.checkStop(r)
	return true
}

const (
	// awayFromStore are faults that keep a relay from its store, or set a clock, or stop
	// its process: beside them a stop may find nobody to give its leases back to.
	awayFromStore = LostRequests | LostAnswers | SlowCalls | HungCalls | BadReads | StoreClock | Crashes | FailOvers | Restores | Moves |
		Pauses | RelayClocks | Unshaped
	// awayFromBroker are those beside which what is out may be answered in time for all
	// that the relay can know.
	awayFromBroker = SlowAnswers | LateDeliveries | Sequences
)

// stopTime is how long a stop may take where the store answers, and the destination
// does: what a call that hangs is waited for, what it is given once it was ended, and
// some round trips.
const stopTime = 2 * time.Second

// checkStop demands of a stop that it gave everything back, and in time.
func (w *world) checkStop(r *relay) {
	faults := w.plan.faults
	if faults&awayFromStore != 0 {
		return
	}
	w.counts.Stops += int(bit(r.stopped.hand > 0))
	took, most := r.now()-r.stopped.at, stopTime
	if r.blinded { // it keeps its leases until the calls that it ended can carry nothing any more
		most += w.plan.ttl / 5
	}
	switch {
	case !r.core.Left():
		w.failf("P8", "relay %d has stopped and not given back its leases, after %v: %s", r.number, took, r.flow.Describe())
	case faults&awayFromBroker == 0 && !w.plan.cfg.Transactions && r.stopped.answers && took > most:
		w.failf("P8", "relay %d has taken %v to stop", r.number, took)
	}
	if w.server.house.owner == r.id() {
		w.failf("P8", "relay %d has stopped, and the housekeeping is still its own", r.number)
	}
	for i := range w.server.shards {
		if sh := &w.server.shards[i]; sh.owner == r.id() {
			w.failf("P8", "relay %d has stopped, and the shard from %d is still its own", r.number, sh.lo)
		}
	}
}
