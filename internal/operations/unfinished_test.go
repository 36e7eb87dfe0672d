package operations_test

import (
	"context"
	"testing"
	"time"

	"github.com/postbag/postbag/internal/operations"
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

func TestTheOldestUnfinishedMessageMayBeHeld(t *testing.T) {
	t.Parallel()
	o, err := operations.Unfinished(onlyHeld{}).Overview(t.Context())
	if err != nil || o.Boxes[0].Subscriptions[0].Oldest != time.Minute {
		t.Errorf("the oldest is %v (%v), want a minute", o.Boxes[0].Subscriptions[0].Oldest, err)
	}
}

// What works with a store in another way than the command line sees the same age.
func TestOperationsOfAStoreSeeTheAgeOfADeadMessage(t *testing.T) {
	t.Parallel()
	s, m := withDead(t, 1)
	plain, err := m.Overview(t.Context())
	if err != nil || plain.Boxes[0].Subscriptions[0].Oldest != 0 {
		t.Fatalf("the store says that the oldest is %v, and nothing waits to be read: %v", plain.Boxes[0].Subscriptions[0].Oldest, err)
	}
	o, err := s.Look(t.Context(), "outbox")
	if err != nil || o.Boxes[0].Subscriptions[0].Oldest <= 0 {
		t.Errorf("the oldest is %v: %v", o.Boxes[0].Subscriptions[0].Oldest, err)
	}
}
