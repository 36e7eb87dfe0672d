package component

import (
	"context"
	"testing"
	"time"

	"github.com/postbag/postbag/store"
)

// onlyHeld has one message, held for its topic.
type onlyHeld struct{ store.Inspector }

func (onlyHeld) Overview(context.Context) (store.Overview, error) {
	v := store.SubscriptionView{Parked: map[store.ParkState]int64{store.ParkHeld: 1}}
	return store.Overview{Now: time.Unix(60, 0), Boxes: []store.BoxView{{Subscriptions: []store.SubscriptionView{v}}}}, nil
}

func (onlyHeld) List(_ context.Context, q store.Query) ([]store.Item, string, error) {
	if q.State != store.StateHeld {
		return nil, "", nil
	}
	var i store.Item
	i.At = time.Unix(0, 0)
	return []store.Item{i}, "", nil
}

func TestTheOldestMessageMayBeAHeldOne(t *testing.T) {
	t.Parallel()
	o, err := unfinished{onlyHeld{}}.Overview(t.Context())
	if err != nil || o.Boxes[0].Subscriptions[0].Oldest != time.Minute {
		t.Errorf("the oldest is %v (%v), want a minute", o.Boxes[0].Subscriptions[0].Oldest, err)
	}
}
