package relay_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/postbag/postbag/broker"
	"github.com/postbag/postbag/broker/membroker"
	"github.com/postbag/postbag/relay"
	"github.com/postbag/postbag/store"
	"github.com/postbag/postbag/store/memstore"
)

// exactlyOnce is a world whose broker has transactions.
func exactlyOnce(t *testing.T, o membroker.Options) *world {
	t.Helper()
	o.Transactions = true
	return newWorld(t, memstore.Options{}, o)
}

func once(o relay.Subscription) relay.Options {
	o.ExactlyOnce = true
	return relay.Options{Subscriptions: []relay.Subscription{o}, TTL: time.Second}
}

// eachOnce checks the view of a reader of committed messages: all, in order, once.
func (w *world) eachOnce() {
	w.t.Helper()
	w.inOrder()
	if n := w.to.Repeats(); n != 0 {
		w.t.Errorf("%d of %d messages are seen twice", n, w.total())
	}
}

func TestARelayThatDeliversExactlyOnceDeliversEverythingInOrder(t *testing.T) {
	t.Parallel()
	w := exactlyOnce(t, membroker.Options{})
	w.publish(3000, 50)
	stop := w.run(w.relay(once(relay.Subscription{})))
	w.publish(3000, 70)
	w.delivered(w.total())
	stop()
	w.eachOnce()
	if v := w.overview(); v.Backlog != 0 || v.Delivered != int64(w.total()) {
		t.Errorf("backlog %d, delivered %d of %d", v.Backlog, v.Delivered, w.total())
	}
}

func TestADrainExactlyOnceEndsWhenNothingIsLeft(t *testing.T) {
	t.Parallel()
	w := exactlyOnce(t, membroker.Options{})
	for range 3 {
		w.publish(2500, 20)
		if err := w.relay(once(relay.Subscription{})).Drain(t.Context()); err != nil {
			t.Fatal(err)
		}
		if got := w.to.Len(); got != w.total() {
			t.Fatalf("%d of %d delivered", got, w.total())
		}
	}
	w.eachOnce()
}

func TestAMessageRejectedInATransactionIsParkedAndTheRestDelivered(t *testing.T) {
	t.Parallel()
	w := exactlyOnce(t, membroker.Options{Decide: func(m broker.Delivery, try int) membroker.Act {
		if p := string(m.Payload); try < 4 && (p == "key-3/5" || p == "key-7/0" || p == "key-7/1") {
			return membroker.Fail(broker.Rejected, "bad")
		}
		return membroker.Act{}
	}})
	w.publish(1000, 10)
	stop := w.run(w.relay(once(relay.Subscription{Retry: relay.Retry{Min: 50 * time.Millisecond, Max: 100 * time.Millisecond}})))
	w.delivered(1000)
	w.publish(500, 10)
	w.delivered(1500)
	stop()
	w.eachOnce()
	if v := w.overview(); len(v.Parked) != 0 || v.Delivered != 1500 {
		t.Errorf("parked rows are left: %v; %d delivered", v.Parked, v.Delivered)
	}
}

// The record names parked messages as it names others.
func TestAParkedMessageArrivesOnceThoughItsRelayEndsBeforeItIsSettled(t *testing.T) {
	t.Parallel()
	var dumb atomic.Bool // no settlement reaches the store
	w := newWorld(t, memstore.Options{Fault: func(_ context.Context, op memstore.Op) memstore.Fault {
		if dumb.Load() && op == memstore.OpTurn {
			return memstore.Fault{Err: errors.New("the database is away")}
		}
		return memstore.Fault{}
	}}, membroker.Options{Transactions: true, Decide: func(m broker.Delivery, try int) membroker.Act {
		switch {
		case string(m.Payload) != "key-3/5":
			return membroker.Act{}
		case try < 3:
			return membroker.Fail(broker.Rejected, "bad")
		}
		dumb.Store(true)
		return membroker.Act{}
	}})
	w.publish(200, 10)
	o := once(relay.Subscription{Retry: relay.Retry{Min: 50 * time.Millisecond, Max: 100 * time.Millisecond}})
	o.Grace = 50 * time.Millisecond
	stop := w.run(w.relay(o))
	arrived := func() bool {
		return slices.ContainsFunc(w.to.First(), func(r membroker.Record) bool { return string(r.Payload) == "key-3/5" })
	}
	w.eventually("the parked message arrives", arrived)
	stop()
	if v := w.overview(); v.Parked[store.ParkRetrying]+v.Parked[store.ParkInFlight] == 0 {
		t.Fatalf("it is settled: %v", v.Parked)
	}
	dumb.Store(false)
	stop = w.run(w.relay(once(relay.Subscription{Retry: relay.Retry{Min: 50 * time.Millisecond, Max: 100 * time.Millisecond}})))
	w.delivered(200)
	w.eventually("all is settled", func() bool { return w.overview().Delivered == 200 })
	stop()
	w.eachOnce()
}

func TestAnOutageOfTheBrokerDelaysWhatIsDeliveredExactlyOnce(t *testing.T) {
	t.Parallel()
	w := exactlyOnce(t, membroker.Options{})
	w.to.SetDown(true)
	r := w.relay(once(relay.Subscription{}))
	stop := w.run(r)
	w.publish(500, 10)
	w.eventually("the lane cannot be opened", func() bool { return of(r).LastError != "" })
	w.to.SetDown(false)
	w.delivered(500)
	w.to.SetDown(true)
	w.publish(500, 10)
	w.eventually("the circuit opens", func() bool { return of(r).Circuit == "open" })
	w.to.SetDown(false)
	w.delivered(1000)
	stop()
	w.eachOnce()
}

func TestOneRelayHoldsAnExactlyOnceLaneAndHandsItOver(t *testing.T) {
	t.Parallel()
	w := exactlyOnce(t, membroker.Options{})
	relays := []*relay.Relay{w.relay(once(relay.Subscription{})), w.relay(once(relay.Subscription{})), w.relay(once(relay.Subscription{}))}
	var stops []func()
	for _, r := range relays {
		stops = append(stops, w.run(r))
	}
	for i, stop := range stops {
		w.publish(1000, 40)
		w.delivered(w.total())
		for _, r := range relays[i:] {
			if n := of(r).Shards; n != 0 && n != 4 {
				t.Errorf("a relay works %d of 4 shards", n)
			}
		}
		stop()
	}
	w.eachOnce()
}

func TestShardsOfALaneAreSplitAndMerged(t *testing.T) {
	t.Parallel()
	w := exactlyOnce(t, membroker.Options{})
	r := w.relay(once(relay.Subscription{}))
	stop := w.run(r)
	w.eventually("the relay works", func() bool { return of(r).Shards == 4 })
	for _, n := range []int{7, 2, 4, 4, 1} {
		w.publish(500, 40)
		w.setShards(n)
		w.eventually("the shards are as wanted", func() bool { return of(r).Shards == n })
		w.publish(500, 40)
		w.delivered(w.total())
	}
	stop()
	w.eachOnce()
}

func TestExactlyOnceIsRefusedWhereTheDestinationHasNoTransactions(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		to   broker.Destination
		o    relay.Subscription
		want string
	}{
		"another kind":              {to: membroker.Null(), want: "has none"},
		"not set up":                {to: membroker.New(membroker.Options{}), want: "not set up"},
		"too large a batch":         {to: membroker.New(membroker.Options{Transactions: true}), o: relay.Subscription{Batch: 50_000}, want: "choose 20000 or less"},
		"nothing stands against it": {to: membroker.New(membroker.Options{Transactions: true})},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c.o.To, c.o.ExactlyOnce = c.to, true
			_, err := relay.New(memstore.New(memstore.Options{}), relay.Options{Subscriptions: []relay.Subscription{c.o}})
			if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
				t.Errorf("New: %v; want %q", err, c.want)
			}
		})
	}
}

func (w *world) setShards(n int) {
	w.t.Helper()
	ref := store.Ref{Box: "outbox", Subscription: "default"}
	if err := w.store.SetShards(w.t.Context(), store.Audit{Who: "test", Why: "size"}, ref, n); err != nil {
		w.t.Fatal(err)
	}
}

// of returns the figures of a relay's one subscription.
func of(r *relay.Relay) relay.SubscriptionStats {
	if s := r.Stats().Subscriptions; len(s) > 0 {
		return s[0]
	}
	return relay.SubscriptionStats{}
}
