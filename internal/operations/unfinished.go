package operations

import (
	"context"

	"github.com/postbag/postbag/store"
)

// unfinished is an inspector in whose overview the oldest message of a
// subscription may be a parked one: an operator asks for the oldest message that
// is neither delivered nor discarded, wherever it is.
type unfinished struct{ store.Inspector }

// Unfinished returns an inspector whose overview has the age of the oldest message that is neither delivered nor discarded. That of a
// store has the oldest one that waits to be read.
func Unfinished(i store.Inspector) store.Inspector { return unfinished{i} }

// Overview implements store.Inspector.
func (u unfinished) Overview(ctx context.Context) (store.Overview, error) {
	o, err := u.Inspector.Overview(ctx)
	for i := range o.Boxes {
		for j := range o.Boxes[i].Subscriptions {
			if err == nil {
				err = u.age(ctx, &o, &o.Boxes[i].Subscriptions[j])
			}
		}
	}
	return o, err
}

// age looks at the first parked message of each state: one row of an index each.
func (u unfinished) age(ctx context.Context, o *store.Overview, v *store.SubscriptionView) error {
	for state, name := range map[store.ParkState]store.State{
		store.ParkRetrying: store.StateRetrying, store.ParkBlocked: store.StateBlocked, store.ParkInFlight: store.StateInFlight, store.ParkHeld: store.StateHeld, store.ParkDead: store.StateDead,
	} {
		if v.Parked[state] == 0 {
			continue
		}
		items, _, err := u.List(ctx, store.Query{Ref: v.Ref, State: name, Oldest: true, Limit: 1})
		if err != nil {
			return err
		}
		for k := range items {
			v.Oldest = max(v.Oldest, o.Now.Sub(items[k].At))
		}
	}
	return nil
}
