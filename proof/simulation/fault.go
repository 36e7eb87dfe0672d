package simulation

import (
	"time"

	"github.com/postbag/postbag/broker"
	"github.com/postbag/postbag/internal/engine"
	"github.com/postbag/postbag/store"
)

// trouble is a fault that comes of itself, again and again: about every so
// many milliseconds.
type trouble struct {
	kind  Faults
	every int
	do    func(*world)
}

func troubles() []trouble {
	return []trouble{
		{StoreClock, 3000, (*world).stepStoreClock},
		{Crashes, 3000, (*world).crash},
		{FailOvers, 4000, (*world).failOver},
		{Restores, 6000, (*world).restore},
		{Moves, 8000, func(w *world) { w.server.relocate() }},
		{Closes, 400, (*world).closeConnections},
		{Unroutable, 1500, func(w *world) { w.outage(broker.Misconfigured, 0) }},
		{Blocked, 1500, func(w *world) { w.outage(broker.Unavailable, 0) }},
		{Throttled, 1000, (*world).throttle},
		{Wipes, 1000, func(w *world) { w.broker.wipe() }},
		{Pauses, 1500, (*world).freeze},
		{Kills, 1500, (*world).kill},
		{Stops, 1500, (*world).stopOne},
		{RelayClocks, 3000, (*world).stepRelayClock},
		{Commands, 100, (*world).command},
		{Holds, 1500, (*world).holdSubscription},
		{Reshapes, 2000, (*world).reshape},
		{Policies, 2000, (*world).policy},
		{Topics, 800, (*world).failTopic},
		{Emptied, 6000, (*world).emptyLog},
		{Drains, 2000, (*world).drainOne},
		{ScopedHolds, 1000, (*world).holdSome},
		{Filters, 500, (*world).changeFilter},
		{Removals, 3000, (*world).remove},
		{Settings, 400, (*world).tune},
		{UnreadableFilters, 2000, (*world).filterLater},
		{Replays, 1500, (*world).startReplay},
	}
}

// trouble plans what goes wrong.
func (w *world) trouble() {
	for i, t := range troubles() {
		if !w.plan.faults.has(t.kind) || w.replay != nil && notOfReplays.has(t.kind) {
			continue
		}
		every := 2 * t.every / w.plan.rate[indexOf(t.kind)]
		var again func()
		again = func() {
			if w.calm || w.replay.isOver() {
				return
			}
			w.counts.Faults[indexOf(t.kind)]++
			w.tell(eventTrouble, i, 0, 0)
			if w.trace.out != nil {
				w.tellf("fault: %s", faultNames[indexOf(t.kind)])
			}
			t.do(w)
			w.after(time.Duration(w.chance.rest(every))*time.Millisecond, nil, again)
		}
		w.after(time.Duration(w.chance.rest(every))*time.Millisecond, nil, again)
	}
	if w.plan.faults.has(FailOvers|Restores) && w.replay == nil {
		w.backUps()
	}
}

// backUps keeps states that the store may be set back to.
func (w *world) backUps() {
	s := w.server
	if w.calm {
		s.copies = nil
		return
	}
	var old backup // in whose memory the new one is made
	if len(s.copies) == 8 {
		old = s.copies[0]
		s.copies = append(s.copies[:0], s.copies[1:]...)
	}
	s.copies = append(s.copies, s.backUp(&old))
	w.after(time.Duration(50+w.below(500))*time.Millisecond, nil, w.backUps)
}

func (w *world) anyRelay() *relay {
	if len(w.relays) == 0 {
		return nil
	}
	return w.relays[w.below(len(w.relays))]
}

// stepStoreClock sets the clock of the database's host.
func (w *world) stepStoreClock() {
	w.server.drift += time.Duration(w.of(100, 1000, 20_000, -100, -1000, -20_000)) * time.Millisecond
}

func (w *world) crash() { w.server.crash() }

// failOver promotes a standby that lags a little.
func (w *world) failOver() { w.fallBack(1) }

// restore goes back to a backup.
func (w *world) restore() { w.fallBack(1 + w.below(8)) }

func (w *world) fallBack(back int) {
	s := w.server
	if n := len(s.copies); n > 0 {
		i := max(n-back, 0)
		b := s.copies[i]
		s.copies = s.copies[:i]
		s.fallBack(&b)
	}
}

// closeConnections closes a relay's connections to the broker: all that is in
// flight is unknown.
func (w *world) closeConnections() {
	r := w.anyRelay()
	if r == nil {
		return
	}
	if c := r.exactly.work; c != nil {
		c.cut()
		return
	}
	for _, d := range append([]*delivery(nil), r.calls...) {
		if w.plan.handlers {
			d.disconnect()
			continue
		}
		if w.plan.sequences {
			d.again(0)
			continue
		}
		d.cut = !d.arrived && w.coin()
		w.schedule(0, r, d, callGivenUp)
	}
}

// outage has the broker answer this for a while.
func (w *world) outage(o broker.Outcome, after time.Duration) {
	b := w.broker
	b.down, b.after = o, after
	w.after(time.Duration(w.below(3000))*time.Millisecond, nil, func() { b.down, b.after = broker.Accepted, 0 })
}

func (w *world) throttle() {
	o := broker.Unavailable
	if w.coin() {
		o = broker.NotSent
	}
	w.outage(o, time.Duration(w.below(2000))*time.Millisecond)
}

// freeze stops a relay's process for a while, which may be longer than its lease,
// wherever it stands.
func (w *world) freeze() {
	if r := w.anyRelay(); r != nil {
		r.frozen = max(r.frozen, w.now+time.Duration(w.below(int(2*w.plan.ttl/time.Millisecond)))*time.Millisecond)
	}
}

// kill ends a relay's process, and another one starts.
func (w *world) kill() {
	if r := w.anyRelay(); r != nil {
		w.excuse("kill", "relay "+r.id(), w.plan.cfg.InFlight)
		w.died(r)
		r.exit()
		w.newRelay()
	}
}

// stopOne ends a relay gracefully, and another one comes.
func (w *world) stopOne() {
	r := w.anyRelay()
	if r == nil || r.told {
		return
	}
	r.told = true
	w.schedule(0, r, r, relayStops)
	if len(w.relays) < 5 {
		w.newRelay()
	}
}

// stepRelayClock sets a relay's clock forward, as a machine that slept does.
func (w *world) stepRelayClock() {
	if r := w.anyRelay(); r != nil {
		r.skew += time.Duration(w.below(20_000)) * time.Millisecond
		w.schedule(0, r, r, relayWakes)
	}
}

// command has an operator give a command for a parked message, or discard one that
// is about to be delivered.
func (w *world) command() {
	s := w.server
	if w.coin() {
		w.discardOne()
		return
	}
	if len(s.rows) > 0 {
		s.order(store.CommandKind(1+w.below(2)), s.rows[w.below(len(s.rows))].m)
	}
}

// discardOne commands the discard of one of the latest messages.
func (w *world) discardOne() {
	msgs := w.producers.msgs
	if len(msgs) == 0 {
		return
	}
	if m := msgs[len(msgs)-1-w.below(min(len(msgs), 20))]; m.state == committed && !m.filtered && !m.shifting && !w.passed(m) {
		w.server.order(store.Discard, m)
	}
}

// holdSubscription pauses the subscription for a while.
func (w *world) holdSubscription() {
	s := w.server
	s.paused = true
	s.epoch++
	w.after(time.Duration(w.below(1000))*time.Millisecond, nil, func() {
		s.paused = false
		s.epoch++
	})
}

// reshape asks for another number of shards.
func (w *world) reshape() {
	w.server.wanted = w.of(2, 1, 3, 5, 8)
	w.server.epoch++
	w.shapes = append(w.shapes, w.server.wanted)
}

// policy has a relay deployed with another order.
func (w *world) policy() {
	if w.plan.cfg.Order == engine.Unordered {
		return
	}
	w.plan.cfg.Order = engine.ByShard - w.plan.cfg.Order
	w.mixed = true
	w.excuse("policy", "subscription", w.plan.cfg.InFlight*len(w.relays))
	if w.coin() {
		w.stopOne()
	} else {
		w.kill()
	}
}
