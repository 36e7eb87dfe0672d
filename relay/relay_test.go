package relay_test

import (
	"context"
	"testing"
	"time"

	"github.com/postbag/postbag/broker"
	"github.com/postbag/postbag/broker/membroker"
	"github.com/postbag/postbag/relay"
	"github.com/postbag/postbag/store"
	"github.com/postbag/postbag/store/memstore"
)

func TestARelayDeliversEverythingOnceAndInOrder(t *testing.T) {
	t.Parallel()
	w := newWorld(t, memstore.Options{}, membroker.Options{})
	w.publish(3000, 50)
	stop := w.run(w.relay(relay.Options{}))
	w.publish(3000, 70)
	w.delivered(w.total())
	stop()
	w.inOrder()
	if n := w.to.Repeats(); n != 0 {
		t.Errorf("%d duplicates without a fault", n)
	}
	if v := w.overview(); v.Backlog != 0 || v.Delivered != int64(w.total()) {
		t.Errorf("backlog %d, delivered %d of %d", v.Backlog, v.Delivered, w.total())
	}
}

func TestDrainEndsWhenNothingIsLeft(t *testing.T) {
	t.Parallel()
	w := newWorld(t, memstore.Options{}, membroker.Options{})
	w.publish(2500, 20)
	if err := w.relay(relay.Options{}).Drain(t.Context()); err != nil {
		t.Fatal(err)
	}
	if got := w.to.Len(); got != 2500 {
		t.Fatalf("%d of 2500 delivered", got)
	}
	w.publish(100, 20)
	if err := w.relay(relay.Options{}).Drain(t.Context()); err != nil {
		t.Fatal(err)
	}
	w.inOrder()
	if n := w.to.Repeats(); n != 0 {
		t.Errorf("%d duplicates", n)
	}
}

func TestARejectedMessageBlocksItsKeyAndNoOther(t *testing.T) {
	t.Parallel()
	w := newWorld(t, memstore.Options{}, membroker.Options{
		Decide: func(m broker.Delivery, try int) membroker.Act {
			if string(m.Payload) == "key-3/5" && try < 4 {
				return membroker.Fail(broker.Rejected, "bad")
			}
			return membroker.Act{}
		},
	})
	w.publish(1000, 10)
	stop := w.run(w.relay(relay.Options{
		Subscriptions: []relay.Subscription{{Retry: relay.Retry{Min: 50 * time.Millisecond, Max: 100 * time.Millisecond}}},
	}))
	w.delivered(1000)
	w.publish(500, 10)
	w.delivered(1500)
	stop()
	w.inOrder()
	if n := w.to.Repeats(); n != 0 {
		t.Errorf("%d duplicates", n)
	}
	if v := w.overview(); len(v.Parked) != 0 {
		t.Errorf("parked rows are left: %v", v.Parked)
	}
}

func TestADeadMessageWaitsForTheOperator(t *testing.T) {
	t.Parallel()
	const poison = true
	w := newWorld(t, memstore.Options{}, membroker.Options{})
	w.to = membroker.New(membroker.Options{
		Decide: func(m broker.Delivery, _ int) membroker.Act {
			if poison && string(m.Payload) == "key-1/0" {
				return membroker.Fail(broker.Rejected, "poison")
			}
			return membroker.Act{}
		},
	})
	w.publish(200, 10)
	stop := w.run(w.relay(relay.Options{
		Subscriptions: []relay.Subscription{{Retry: relay.Retry{Min: time.Millisecond, Max: time.Millisecond, MaxAttempts: 2}}},
	}))
	w.delivered(180)
	w.eventually("the poison message is dead", func() bool { return w.overview().Parked[store.ParkDead] == 1 })
	w.inOrder("key-1")
	items, _, err := w.store.List(t.Context(), store.Query{Ref: store.Ref{Box: "outbox", Subscription: "default"}, State: store.StateDead})
	if err != nil || len(items) != 1 {
		t.Fatalf("dead: %d items, %v", len(items), err)
	}
	n, err := w.store.Command(t.Context(), store.Audit{Who: "test", Why: "fixed"}, store.Ref{Box: "outbox", Subscription: "default"}, store.Discard, []int64{items[0].Seq})
	if err != nil || n != 1 {
		t.Fatalf("discard: %d, %v", n, err)
	}
	w.delivered(199)
	stop()
	if v := w.overview(); len(v.Parked) != 0 || v.Discarded != 1 {
		t.Errorf("parked %v, discarded %d", v.Parked, v.Discarded)
	}
}

func TestAnOutageCountsNoAttemptAndParksNothing(t *testing.T) {
	t.Parallel()
	w := newWorld(t, memstore.Options{}, membroker.Options{})
	stop := w.run(w.relay(relay.Options{}))
	w.publish(100, 10)
	w.delivered(100)
	w.to.SetDown(true)
	w.publish(2000, 10)
	w.eventually("the circuit opens", func() bool { return w.to.Count(broker.Unavailable) > 0 })
	w.to.SetDown(false)
	w.delivered(2100)
	stop()
	w.inOrder()
	if v := w.overview(); len(v.Parked) != 0 {
		t.Errorf("an outage parked %v", v.Parked)
	}
	for _, r := range w.to.Taken() {
		if r.Attempt != 1 {
			t.Fatalf("an outage counted: attempt %d", r.Attempt)
		}
	}
}

func TestTwoRelaysShareTheShardsAndHandThemOver(t *testing.T) {
	t.Parallel()
	w := newWorld(t, memstore.Options{}, membroker.Options{})
	a, b := w.relay(relay.Options{Name: "a", TTL: 2 * time.Second}), w.relay(relay.Options{Name: "b", TTL: 2 * time.Second})
	stopA := w.run(a)
	w.publish(500, 40)
	w.delivered(500)
	stopB := w.run(b)
	shards := func(r *relay.Relay) int { return r.Stats().Subscriptions[0].Shards }
	w.eventually("each has two shards", func() bool { return shards(a) == 2 && shards(b) == 2 })
	w.publish(2000, 40)
	w.delivered(2500)
	stopA()
	w.eventually("b has all shards", func() bool { return shards(b) == 4 })
	w.publish(1000, 40)
	w.delivered(3500)
	stopB()
	w.inOrder()
	if n := w.to.Repeats(); n != 0 {
		t.Errorf("%d duplicates in a graceful shutdown", n)
	}
}

func TestALiveSubscriptionIsReshaped(t *testing.T) {
	t.Parallel()
	w := newWorld(t, memstore.Options{}, membroker.Options{})
	a, b := w.relay(relay.Options{Name: "a"}), w.relay(relay.Options{Name: "b"})
	stopA, stopB := w.run(a), w.run(b)
	ref := store.Ref{Box: "outbox", Subscription: "default"}
	w.eventually("both relays are there", func() bool { return a.Stats().Relays == 2 && b.Stats().Relays == 2 })
	for _, n := range []int{1, 8, 3, 16, 4} {
		w.publish(400, 40)
		if err := w.store.SetShards(t.Context(), store.Audit{Who: "test", Why: "size"}, ref, n); err != nil {
			t.Fatal(err)
		}
		w.publish(400, 40)
		w.eventually("the shards are there and owned", func() bool {
			return len(w.overview().Shards) == n && a.Stats().Subscriptions[0].Shards+b.Stats().Subscriptions[0].Shards == n
		})
	}
	w.publish(400, 40)
	w.delivered(w.total())
	stopA()
	stopB()
	w.inOrder()
	if n := w.to.Repeats(); n != 0 {
		t.Errorf("%d duplicates", n)
	}
}

func TestTurnsWhoseAnswersWereLostAreRepeated(t *testing.T) {
	t.Parallel()
	calls := 0
	w := newWorld(t, memstore.Options{Fault: func(_ context.Context, op memstore.Op) memstore.Fault {
		if op != memstore.OpTurn {
			return memstore.Fault{}
		}
		if calls++; calls%7 == 3 {
			return memstore.Fault{Err: context.DeadlineExceeded, Acted: calls%2 == 0}
		}
		return memstore.Fault{}
	}}, membroker.Options{})
	w.publish(3000, 30)
	stop := w.run(w.relay(relay.Options{}))
	w.delivered(3000)
	stop()
	w.inOrder()
	if n := w.to.Repeats(); n != 0 {
		t.Errorf("%d duplicates", n)
	}
}

func TestAScheduledMessageIsDeliveredWhenItIsDue(t *testing.T) {
	t.Parallel()
	w := newWorld(t, memstore.Options{}, membroker.Options{})
	stop := w.run(w.relay(relay.Options{}))
	defer stop()
	due := time.Now().Add(300 * time.Millisecond)
	err := w.pub.InTx(t.Context(), func(ctx context.Context, tx *memstore.Tx) error {
		return w.pub.Publish(ctx, tx, message("later", due))
	})
	if err != nil {
		t.Fatal(err)
	}
	w.delivered(1)
	if at := w.to.Taken()[0].Taken; at.Before(due) {
		t.Errorf("delivered %v too early", due.Sub(at))
	}
}

func TestADeliveryHoldsTheGenerationOfItsDatabase(t *testing.T) {
	t.Parallel()
	w := newWorld(t, memstore.Options{}, membroker.Options{})
	stop := w.run(w.relay(relay.Options{}))
	w.publish(10, 2)
	w.delivered(10)
	stop()
	for _, r := range w.to.Taken() {
		if r.Life != 1 {
			t.Errorf("message %d is of life %d", r.Seq, r.Life)
		}
	}
}
