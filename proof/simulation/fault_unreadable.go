package simulation

import (
	"errors"
	"slices"
	"time"

	"github.com/postbag/postbag/broker"
	"github.com/postbag/postbag/internal/engine"
	"github.com/postbag/postbag/store"
)

// Under UnreadableFilters some relays are of an earlier version. A filter is set that only those of the later
// one can read. It takes the same messages, so that what judges need not know of it.

// errLater is what stores say of such a filter.
var errLater = errors.New("a later version wrote the filter")

// startsNewer says whether a relay that starts is of the later version.
func (w *world) startsNewer() bool {
	return !w.plan.faults.has(UnreadableFilters) || w.calm || w.upgraded || w.coin()
}

// unreadable is an error if a relay cannot read the filter.
func (s *server) unreadable(who *relay) error {
	if s.later && !who.newer {
		return errLater
	}
	return nil
}

// conditions are what a heartbeat says of the subscription, as far as other relays go by it.
func (r *relay) conditions() []store.Condition {
	if r.core.Flows[0].Unreadable() == nil {
		return nil
	}
	return []store.Condition{{Ref: r.w.ref, State: store.ConditionUnreadable}}
}

// filterLater has an operator set a filter of the later version. After a while another filter is set, or
// the older relays are upgraded.
func (w *world) filterLater() {
	if w.server.later {
		return
	}
	w.setLater(true)
	w.after(time.Duration(w.below(3000))*time.Millisecond, nil, func() {
		switch {
		case w.calm:
		case w.below(4) == 0:
			w.upgrade()
		default:
			w.setLater(false)
		}
	})
}

func (w *world) setLater(later bool) {
	w.server.later = later
	w.server.epoch++
	if later {
		w.excuse("unreadable", "subscription", w.plan.cfg.InFlight*len(w.relays))
	}
}

// upgrade has a relay of the later version come for each other one, which stops.
func (w *world) upgrade() {
	w.upgraded = true
	for _, r := range w.relays {
		if r.newer || r.told {
			continue
		}
		r.told = true
		w.schedule(0, r, r, relayStops)
		w.newRelay()
	}
}

// checkBlind: a relay sends nothing of a subscription whose filter it cannot read, as it was told.
func (r *relay) checkBlind(c *engine.Call) {
	if r.blind {
		r.w.failf("P1", "relay %d sends %d messages, and it was told of a filter that it cannot read", r.number, len(c.Items))
	}
}

// passUnreadable has a filter set that one relay cannot read and another one can, until the other one has delivered all.
// Then the one is upgraded, or another filter is set.
func (w *world) passUnreadable() {
	if !w.plan.faults.has(UnreadableFilters) {
		return
	}
	w.broker.topics = [maxTopics]broker.Outcome{}
	w.newRelay()
	w.newRelay()
	w.relays[len(w.relays)-1].newer = false
	w.setLater(true)
	w.run("going on beside a relay that cannot read the filter", deliverLimit+w.lingering(), w.done(w.leftToOthers))
	if w.coin() {
		w.upgrade()
	} else {
		w.setLater(false)
	}
}

// leftToOthers says that those relays which cannot read the filter know that, and have no shard.
func (w *world) leftToOthers() bool {
	for _, r := range w.relays {
		owns := func(s shard) bool { return s.owner == r.id() }
		if !r.newer && (!r.blind || slices.ContainsFunc(w.server.shards, owns)) {
			return false
		}
	}
	return true
}

// uneven says that relays have not shared the shards out yet: others hear of what one can read with a heartbeat of their own.
func (w *world) uneven() bool {
	if w.plan.cfg.Transactions || len(w.relays) == 0 { // one has them all
		return false
	}
	least, most := len(w.server.shards), 0
	for _, r := range w.relays {
		n := len(r.flow.Leases())
		least, most = min(least, n), max(most, n)
	}
	return most-least > 1
}
