package relay_test

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"testing"

	"github.com/postbag/postbag"
	"github.com/postbag/postbag/broker"
	"github.com/postbag/postbag/broker/membroker"
	"github.com/postbag/postbag/relay"
	"github.com/postbag/postbag/store"
	"github.com/postbag/postbag/store/memstore"
)

// publishTo commits n messages over so many keys, whose topics are chosen by key and
// by place in it.
func (w *world) publishTo(n, keys int, topic func(key, place int) string) {
	w.t.Helper()
	err := w.pub.InTx(w.t.Context(), func(ctx context.Context, tx *memstore.Tx) error {
		for i := range n {
			key := fmt.Sprintf("key-%d", i%keys)
			m := postbag.Message{Topic: topic(i%keys, w.sent[key]), Key: key, Payload: fmt.Appendf(nil, "%s/%d", key, w.sent[key])}
			if err := w.pub.Publish(ctx, tx, m); err != nil {
				return err
			}
			w.sent[key]++
		}
		return nil
	})
	if err != nil {
		w.t.Fatal(err)
	}
}

// thirdKeys is a topic that is missing for the second message of every third key.
func thirdKeys(key, place int) string {
	if key%3 == 0 && place == 1 {
		return "missing"
	}
	return "t"
}

// held waits until so many messages are held for a topic, and checks that nothing of
// them was counted.
func (w *world) held(topic string, n int64) {
	w.t.Helper()
	w.eventually(fmt.Sprintf("%d messages are held", n), func() bool {
		o, err := w.store.Overview(w.t.Context())
		if err != nil {
			w.t.Fatal(err)
		}
		for _, v := range o.Boxes[0].Subscriptions {
			if len(v.Held) == 1 && v.Held[0].Topic == topic && v.Held[0].Messages == n && v.Held[0].Reason != "" {
				return true
			}
		}
		return false
	})
	items, _, err := w.store.List(w.t.Context(), store.Query{Ref: store.Ref{Box: "outbox", Subscription: "default"}, State: store.StateHeld, Limit: 1000})
	if err != nil {
		w.t.Fatal(err)
	}
	for i := range items {
		if items[i].Attempts != 0 || items[i].Reason == "" {
			w.t.Errorf("a held message has %d attempts, reason %q", items[i].Attempts, items[i].Reason)
		}
	}
}

func TestAMissingTopicBlocksOnlyItsOwnKeys(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name  string
		order relay.Order
		to    membroker.Options
		once  bool
	}{
		{name: "to any destination"},
		{name: "to one that keeps order", to: membroker.Options{Ordered: true}},
		{name: "exactly once", to: membroker.Options{Transactions: true}, once: true},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			c.to.Topics = []string{"t"}
			w := newWorld(t, memstore.Options{}, c.to)
			w.publishTo(1500, 300, thirdKeys)
			options := relay.Options{Subscriptions: []relay.Subscription{{ExactlyOnce: c.once}}}
			stop := w.run(w.relay(options))
			w.delivered(1000 + 100) // all of other keys, and what stands before the topic's
			w.held("missing", 100)
			stop()
			if n := w.to.Len(); n != 1100 {
				t.Errorf("%d messages were delivered before the topic was there, not 1100", n)
			}
			stop = w.run(w.relay(options)) // another owner knows of it
			w.publishTo(300, 300, func(int, int) string { return "t" })
			w.delivered(1100 + 200)
			w.to.AddTopic("missing")
			w.delivered(1800)
			w.inOrder()
			stop()
			if v := w.overview(); len(v.Parked)+len(v.Held) != 0 {
				t.Errorf("parked are still %v, held %v", v.Parked, v.Held)
			}
			if n := w.to.Len(); n != 1800 {
				t.Errorf("%d messages were delivered, not 1800", n)
			}
		})
	}
}

func TestATopicThatIsFullHoldsItsMessages(t *testing.T) {
	t.Parallel()
	w := newWorld(t, memstore.Options{}, membroker.Options{})
	w.to.FailTopic("full", broker.Unavailable)
	r := w.relay(relay.Options{Subscriptions: []relay.Subscription{{OnReject: relay.Skip}}})
	w.run(r)
	w.publishTo(20, 10, func(key, _ int) string {
		if key == 3 {
			return "full"
		}
		return "t"
	})
	w.delivered(18)
	w.held("full", 1)
	w.to.RestoreTopic("full")
	w.delivered(20)
	w.inOrder()
}

func TestTheHeartbeatAndTheLogNameTopicsThatDoNotWork(t *testing.T) {
	t.Parallel()
	w := newWorld(t, memstore.Options{}, membroker.Options{Topics: []string{"t"}})
	var said logged
	var failed sync.Map
	r, err := relay.New(w.store, relay.Options{
		Subscriptions: []relay.Subscription{{To: w.to, ToName: "here"}},
		Logger:        slog.New(slog.NewTextHandler(&said, nil)),
		OnError:       func(err error) { failed.Store(err.Error(), true) },
	})
	if err != nil {
		t.Fatal(err)
	}
	w.run(r)
	w.publishTo(30, 3, thirdKeys)
	w.delivered(21)
	w.eventually("the heartbeat names the topic", func() bool {
		o, err := w.store.Overview(t.Context())
		if err != nil || len(o.Relays) != 1 || len(o.Relays[0].Conditions) != 1 {
			return false
		}
		c := o.Relays[0].Conditions[0]
		return c.State == "closed" && len(c.Topics) == 1 && c.Topics[0].Topic == "missing" && c.Topics[0].Error != ""
	})
	w.to.AddTopic("missing")
	w.delivered(30)
	w.eventually("the log says that the topic works", func() bool { return strings.Contains(said.String(), "a topic takes messages again") })
	if n := strings.Count(said.String(), "a topic does not take messages"); n != 1 {
		t.Errorf("the log says %d times that a topic fails", n)
	}
	if strings.Contains(said.String(), "the destination does not take") {
		t.Error("the log says that the destination does not take messages")
	}
	errs := 0
	failed.Range(func(any, any) bool { errs++; return true })
	if errs != 1 {
		t.Errorf("OnError was told %d things, not of one topic", errs)
	}
}

// logged keeps what is written to it.
type logged struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (l *logged) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(p)
}

func (l *logged) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}

func TestTooManyHeldMessagesPauseTheSubscription(t *testing.T) {
	t.Parallel()
	w := newWorld(t, memstore.Options{}, membroker.Options{Topics: []string{"t"}})
	r := w.relay(relay.Options{Subscriptions: []relay.Subscription{{MaxHeld: 10, Batch: 5}}})
	w.run(r)
	w.publishTo(10, 10, func(int, int) string { return "missing" })
	w.held("missing", 10)
	w.publish(100, 50)
	w.eventually("the relay says that nothing is read", func() bool { return r.Stats().Subscriptions[0].Circuit == "held" })
	if n := w.to.Len(); n > 0 {
		t.Errorf("%d messages were delivered", n)
	}
	w.to.AddTopic("missing")
	w.delivered(110)
	w.inOrder()
}

func TestHeldMessagesCanBeDiscardedAndRetried(t *testing.T) {
	t.Parallel()
	w := newWorld(t, memstore.Options{}, membroker.Options{Topics: []string{"t"}})
	w.run(w.relay(relay.Options{}))
	w.publishTo(6, 3, func(_, place int) string {
		if place == 0 {
			return "missing"
		}
		return "t"
	})
	w.held("missing", 3)
	ref := store.Ref{Box: "outbox", Subscription: "default"}
	items, _, err := w.store.List(t.Context(), store.Query{Ref: ref, State: store.StateHeld, Oldest: true})
	if err != nil {
		t.Fatal(err)
	}
	audit := store.Audit{Who: "me", Why: "test"}
	if _, err := w.store.Command(t.Context(), audit, ref, store.Discard, []int64{items[0].Seq}); err != nil {
		t.Fatal(err)
	}
	w.delivered(1)
	w.held("missing", 2)
	begun := w.to.Answers()
	if _, err := w.store.Command(t.Context(), audit, ref, store.Retry, []int64{items[2].Seq}); err != nil {
		t.Fatal(err)
	}
	w.eventually("the message is tried", func() bool {
		for _, a := range w.to.Answers()[len(begun):] {
			if a.ID == items[2].ID {
				return true
			}
		}
		return false
	})
	w.held("missing", 2)
	w.to.AddTopic("missing")
	w.delivered(5)
	w.eventually("nothing is parked", func() bool { return len(w.overview().Parked) == 0 })
}
