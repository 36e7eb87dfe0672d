package prompostbag

import (
	"context"
	"slices"
	"time"

	"github.com/postbag/postbag/store"
)

// look is what the store said last.
type look struct {
	free     chan struct{} // has room for one: who is in it may use the rest
	at       time.Time
	overview store.Overview
	err      error
}

// overview asks the store, or returns what it said not long ago. Scrapes at the same time ask
// it once.
func (c *Collector) overview(ctx context.Context) (store.Overview, error) {
	if c.options.Every <= 0 {
		return c.options.Store.Overview(ctx)
	}
	l := &c.look
	select {
	case l.free <- struct{}{}:
	case <-ctx.Done():
		return store.Overview{}, context.Cause(ctx)
	}
	defer func() { <-l.free }()
	if l.at.IsZero() || time.Since(l.at) >= c.options.Every {
		l.overview, l.err = c.options.Store.Overview(ctx)
		l.at = time.Now()
	}
	return l.overview, l.err
}

// collectStore adds what only the store knows. One that does not answer leaves
// these out, and says so.
func collectStore(o store.Overview, err error, send func(string, float64, ...string)) {
	send(storeUp, one(err == nil))
	if err != nil {
		return
	}
	send(storeRelays, float64(relaysOf(&o)))
	for i := range o.Boxes {
		b := &o.Boxes[i]
		send(logLast, float64(b.Last), b.Name)
		send(logRows, float64(b.Rows), b.Name)
		send(logScheduled, float64(b.Scheduled), b.Name)
		send(notices, float64(len(b.Notices)), b.Name)
		for j := range b.Subscriptions {
			collectView(&b.Subscriptions[j], send)
		}
	}
}

// relaysOf counts the relays, but those that work replays alone: such a process ends by itself, and delivers nothing new.
func relaysOf(o *store.Overview) (n int) {
	replays := map[store.Ref]bool{}
	for i := range o.Boxes {
		for j := range o.Boxes[i].Subscriptions {
			if s := &o.Boxes[i].Subscriptions[j]; s.Replay != nil {
				replays[s.Ref] = true
			}
		}
	}
	for i := range o.Relays {
		works := o.Relays[i].Works
		if len(works) == 0 || slices.ContainsFunc(works, func(r store.Ref) bool { return !replays[r] }) {
			n++
		}
	}
	return n
}

func collectView(s *store.SubscriptionView, send func(string, float64, ...string)) {
	for _, row := range []struct {
		name  string
		value float64
	}{
		{backlog, float64(s.Backlog)},
		{storePaused, one(s.Paused)},
		{commands, float64(s.Commands)},
		{storeDelivered, float64(s.Delivered)},
		{storeDiscarded, float64(s.Discarded)},
		{storeSuperseded, float64(s.Superseded)},
	} {
		send(row.name, row.value, s.Box, s.Subscription)
	}
	if s.Replay == nil { // what a replay sends again is old
		send(oldest, s.Oldest.Seconds(), s.Box, s.Subscription)
	}
	for _, state := range []store.ParkState{store.ParkRetrying, store.ParkBlocked, store.ParkInFlight, store.ParkHeld, store.ParkDead} {
		n := s.Parked[state]
		send(parked, float64(n), s.Box, s.Subscription, state.String())
		send(parkedAtLeast, one(n >= store.CountedParked), s.Box, s.Subscription, state.String())
	}
}
