package relay

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/postbag/postbag/store"
)

// ErrHeld is returned by Drain when it has delivered what it could, while other relays
// hold shards of a subscription in which something waits. The error says which shards, who
// holds them, and for how long.
var ErrHeld = errors.New("relay: the drain is not whole, another relay holds shards; stop that relay, or drain again when its lease is over")

// holder is another relay that holds shards of a flow, by the last view.
type holder struct {
	id, name string
	shards   int
	until    time.Duration
}

// noteHolders notes who else has shards of the flow.
func (l *loop) noteHolders(f *flow, s *store.SubscriptionState, relays []store.RelayState) {
	f.holders = nil
	for i := range relays {
		r := &relays[i]
		h := holder{id: r.ID, name: r.Name, until: l.now() + r.Expires}
		for j := range s.Shards {
			if s.Shards[j].Owner == r.ID && r.ID != l.core.ID() {
				h.shards++
			}
		}
		if h.shards > 0 {
			f.holders = append(f.holders, h)
		}
	}
	f.shards = len(s.Shards)
}

// undrained says which shards a drain could not reach, of subscriptions in which
// something waits, and whose filters cannot be read. A store that does not tell what waits is taken to have something.
func (l *loop) undrained(ctx context.Context) error {
	var errs []error
	for _, f := range l.flows {
		if why := f.Unreadable(); why != nil {
			errs = append(errs, fmt.Errorf("relay: the filter of %s cannot be read, and nothing of it is delivered; update the relay, or set the filter again: %w", f.Ref, why))
			continue
		}
		if len(f.holders) == 0 || !l.waits(ctx, f.Ref) {
			continue
		}
		for _, h := range f.holders {
			left := max(h.until-l.now(), 0).Round(100 * time.Millisecond)
			errs = append(errs, fmt.Errorf("%w: %d of %d shards of %s, by %s (%s), whose lease is good for %s unless it renews it",
				ErrHeld, h.shards, f.shards, f.Ref, h.name, h.id, left))
		}
	}
	return errors.Join(errs...)
}

// waits says whether something of a subscription is still to be delivered.
func (l *loop) waits(ctx context.Context, ref store.Ref) bool {
	in, ok := l.store.(store.Inspector)
	if !ok {
		return true
	}
	ctx, cancel := context.WithTimeout(ctx, storeTimeout)
	defer cancel()
	o, err := in.Overview(ctx)
	if err != nil {
		l.log.report(fmt.Errorf("relay: looking whether something waits in %s: %w", ref, err))
		return true
	}
	for i := range o.Boxes {
		for j := range o.Boxes[i].Subscriptions {
			if v := &o.Boxes[i].Subscriptions[j]; v.Ref == ref {
				return v.Backlog+v.Parked[store.ParkRetrying]+v.Parked[store.ParkBlocked]+v.Parked[store.ParkInFlight]+v.Parked[store.ParkHeld] > 0
			}
		}
	}
	return true
}
