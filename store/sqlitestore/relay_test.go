package sqlitestore_test

import (
	"context"
	"testing"

	"github.com/postbag/postbag/broker"
	"github.com/postbag/postbag/broker/membroker"
	"github.com/postbag/postbag/relay"
	"github.com/postbag/postbag/store"
	"github.com/postbag/postbag/store/sqlitestore"
)

func TestARelayDeliversWhatThreeProcessesPublish(t *testing.T) {
	t.Parallel()
	f := openAt(t, open(t).path, sqlitestore.Options{BusyTimeout: patience})
	to := membroker.New(membroker.Options{})
	rel, err := relay.New(f.Store, relay.Options{Subscriptions: []relay.Subscription{{To: to}}})
	f.check(err)
	others := []*process{start(f, "busy"), start(f, "busy")}
	published := make(chan error, 1)
	go func() { published <- writeAtOnce(t.Context(), f.Store, "own") }()
	f.check(rel.Drain(t.Context()))
	f.check(<-published)
	for _, p := range others {
		f.check(p.Wait())
	}
	f.check(rel.Drain(t.Context()))
	if n := to.Inversions(); n != 0 || to.Repeats() != 0 {
		t.Errorf("%d messages came out of order and %d came again", n, to.Repeats())
	}
	if want := 3 * busyWriters * busyBatches * batchRows; to.Len() != want {
		t.Errorf("%d messages were delivered, %d were committed", to.Len(), want)
	}
	view, err := f.Overview(t.Context())
	f.check(err)
	sub := view.Boxes[0].Subscriptions[0]
	if sub.Backlog != 0 || sub.Delivered != int64(to.Len()) || len(sub.Parked) != 0 {
		t.Errorf("the overview shows %+v", sub)
	}
}

func TestARejectedMessageBlocksItsKeyAloneUntilItIsDiscarded(t *testing.T) {
	t.Parallel()
	f := open(t)
	sent := messages(60, keys(20)...)
	poison := sent[25]
	to := membroker.New(membroker.Options{Decide: func(m broker.Delivery, _ int) membroker.Act {
		if m.ID == poison.ID {
			return membroker.Fail(broker.Rejected, "poison")
		}
		return membroker.Act{}
	}})
	rel, err := relay.New(f.Store, relay.Options{
		Subscriptions: []relay.Subscription{{To: to, Retry: relay.Retry{MaxAttempts: 1}}},
	})
	f.check(err)
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- rel.Run(ctx) }()
	f.publish(sent...)

	var dead []store.Item
	f.eventually("the message is dead and all other keys are delivered", func() bool {
		dead, _, err = f.List(t.Context(), store.Query{Ref: outbox, State: store.StateDead})
		f.check(err)
		return len(dead) == 1 && to.Len() == len(sent)-2
	})
	if dead[0].ID != poison.ID || dead[0].Reason == "" || !dead[0].Equal(poison) {
		t.Errorf("the dead message is %+v", dead[0])
	}
	who := store.Audit{Who: "tester", Why: "it is poison"}
	n, err := f.Command(t.Context(), who, outbox, store.Discard, []int64{dead[0].Seq})
	if err != nil || n != 1 {
		t.Fatalf("discarding was queued for %d messages (error: %v)", n, err)
	}
	f.eventually("its key goes on", func() bool { return to.Len() == len(sent)-1 })
	f.eventually("it is shown as discarded", func() bool {
		items, err := f.Show(t.Context(), "outbox", poison.ID)
		f.check(err)
		return len(items) == 1 && items[0].State == store.StateDiscarded
	})
	if to.Inversions() != 0 {
		t.Errorf("%d messages came out of order", to.Inversions())
	}
	stop()
	f.check(<-ended)
}

func TestARouteWhoseDestinationIsDownHoldsUpOnlyItsOwnMessages(t *testing.T) {
	t.Parallel()
	f := open(t)
	eu, rest := membroker.New(membroker.Options{}), membroker.New(membroker.Options{})
	eu.SetDown(true)
	routes := relay.Routes{
		Name: "orders", Routes: []relay.Route{
			{Match: relay.Match{Headers: []string{"region=eu"}}, Subscription: relay.Subscription{Name: "eu", To: eu, Retry: relay.Retry{Min: 1, Max: 1}}},
		},
		Fallback: &relay.Subscription{Name: "rest", To: rest},
	}
	subs, err := routes.Subscriptions()
	f.check(err)
	rel, err := relay.New(f.Store, relay.Options{Subscriptions: subs})
	f.check(err)
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- rel.Run(ctx) }()
	sent := messages(60, keys(7)...)
	for i := range sent {
		if i%3 == 0 {
			sent[i].Headers = map[string]string{"region": "eu"}
		}
	}
	f.publish(sent...)
	f.eventually("the other route has all of its messages", func() bool { return rest.Len() == 40 })
	if eu.Len() != 0 {
		t.Errorf("a destination that is down has %d messages", eu.Len())
	}
	eu.SetDown(false)
	f.eventually("the route goes on", func() bool { return eu.Len() == 20 })
	stop()
	f.check(<-ended)
	if eu.Inversions()+rest.Inversions() != 0 || rest.Len() != 40 {
		t.Errorf("%d and %d messages came out of order, and %d came to the rest", eu.Inversions(), rest.Inversions(), rest.Len())
	}
}
