package operations_test

import (
	"testing"
	"time"

	"github.com/postbag/postbag/internal/operations"
	"github.com/postbag/postbag/store"
)

// A relay that was killed says nothing more: what it said last goes on, and people see how long ago it was.
func TestTheAgeOfAConditionGrowsAfterItsRelaysLastHeartbeat(t *testing.T) {
	t.Parallel()
	ref := store.Ref{Box: "outbox", Subscription: "default"}
	o := store.Overview{
		Boxes: []store.BoxView{{Name: "outbox", Subscriptions: []store.SubscriptionView{{SubscriptionState: store.SubscriptionState{Ref: ref}}}}},
		Relays: []store.RelayState{
			{ID: "a", Expires: 4 * time.Second, Conditions: []store.Condition{{
				Ref: ref, State: "open", Since: 30 * time.Second, Lease: 15 * time.Second,
				Topics: []store.TopicCondition{{Topic: "t", Since: 20 * time.Second}},
			}}},
			{ID: "b", Expires: 4 * time.Second},
		},
	}
	v := operations.StatusOf(&o, nil)
	s := &v.Boxes[0].Subscriptions[0]
	if s.Destination.Since != 41 || s.Held[0].Since != 31 {
		t.Errorf("the destination is away for %v s, the topic for %v s, not 41 and 31", s.Destination.Since, s.Held[0].Since)
	}
	if seen := v.Relays[0].Seen; seen == nil || *seen != 11 {
		t.Errorf("the relay was seen %v s ago, not 11", seen)
	}
	if seen := v.Relays[1].Seen; seen != nil {
		t.Errorf("a relay that says nothing of a destination was seen %v s ago", *seen)
	}
}

func TestAStatusHasTheWholeFilter(t *testing.T) {
	t.Parallel()
	o := store.Overview{Boxes: []store.BoxView{{Name: "outbox", Subscriptions: []store.SubscriptionView{
		{SubscriptionState: store.SubscriptionState{Where: store.Where{Topics: []string{"b", "a"}, Except: []store.Match{{Headers: []string{"h"}}}}}}, {},
	}}}}
	s := operations.StatusOf(&o, nil).Boxes[0].Subscriptions
	if w := s[0].Where; w == nil || len(w.Topics) != 2 || w.Topics[0] != "a" || len(w.Except) != 1 {
		t.Errorf("the filter is shown as %+v", w)
	}
	if s[1].Where != nil {
		t.Errorf("a subscription without a filter has %+v", s[1].Where)
	}
}

// Without a relay the messages that are held still say why.
func TestAHeldTopicShowsItsReasonWithoutARelay(t *testing.T) {
	t.Parallel()
	o := store.Overview{Boxes: []store.BoxView{{Name: "outbox", Subscriptions: []store.SubscriptionView{{
		Held: []store.HeldTopic{{Topic: "t", Messages: 3, Reason: "no stream stores it"}},
	}}}}}
	held := operations.StatusOf(&o, nil).Boxes[0].Subscriptions[0].Held
	if len(held) != 1 || held[0].Error != "no stream stores it" || held[0].Messages != 3 {
		t.Errorf("the held topics are %+v", held)
	}
}
