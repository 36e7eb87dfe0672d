package watermillbroker_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/ThreeDotsLabs/watermill/message"

	"github.com/postbag/postbag"
	"github.com/postbag/postbag/broker"
	"github.com/postbag/postbag/broker/watermillbroker"
	"github.com/postbag/postbag/inbox"
	"github.com/postbag/postbag/store"
	"github.com/postbag/postbag/store/memstore"
)

// runs runs a receiver or consumer until the test, or the returned function, ends it.
func runs(t *testing.T, run func(context.Context) error) (end func()) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- run(ctx) }()
	end = sync.OnceFunc(func() {
		cancel()
		if err := <-ended; err != nil {
			t.Errorf("it ended with %v", err)
		}
	})
	t.Cleanup(end)
	return end
}

func inboxStore(t *testing.T) *memstore.Store {
	t.Helper()
	s := memstore.New(memstore.Options{})
	if err := s.CreateBox(t.Context(), "inbox"); err != nil {
		t.Fatal(err)
	}
	if err := s.Declare(t.Context(), []store.Spec{{Ref: store.Ref{Box: "inbox", Subscription: "worker"}, Shards: 1}}); err != nil {
		t.Fatal(err)
	}
	return s
}

func listed(t *testing.T, s *memstore.Store) []store.Item {
	t.Helper()
	items, _, err := s.List(t.Context(), store.Query{Ref: store.Ref{Box: "inbox"}, Oldest: true, Limit: 1000})
	if err != nil {
		t.Fatal(err)
	}
	return items
}

// A GoChannel waits for each ack, so that a delivery that was accepted is stored.
func TestAReceiverStoresOnceInOrderWhatADestinationSendsThroughAGoChannel(t *testing.T) {
	t.Parallel()
	c := blocking(t)
	s := inboxStore(t)
	r, err := inbox.NewReceiver(inbox.ReceiverOptions[*memstore.Tx]{
		Store: s, Source: openSource(t, c, watermillbroker.SourceOptions{Topics: []string{"conformance"}}), Logger: slog.New(slog.DiscardHandler),
	})
	if err != nil {
		t.Fatal(err)
	}
	runs(t, r.Run)
	d := over(t, c, watermillbroker.Options{})
	const total = 60
	msgs := make([]broker.Delivery, total)
	for i := range msgs {
		msgs[i] = delivery(fmt.Sprint("key ", i%5))
		msgs[i].Type, msgs[i].Payload = "order.created", fmt.Append(nil, i)
	}
	for range 2 { // the second time all are repeats
		for _, result := range publish(t, d, msgs...) {
			if result.Outcome != broker.Accepted {
				t.Fatalf("%v: %v", result.Outcome, result.Err)
			}
		}
	}
	items, last := listed(t, s), map[string]int{}
	for _, it := range items {
		var n int
		if _, err := fmt.Sscan(string(it.Payload), &n); err != nil {
			t.Fatal(err)
		}
		if before, there := last[it.Key]; there && n != before+5 || it.ID != msgs[n].ID || it.Type != "order.created" || it.Headers["a"] != "b" {
			t.Errorf("message %d, after %d, is %+v", n, last[it.Key], it)
		}
		last[it.Key] = n
	}
	if len(items) != total {
		t.Errorf("%d messages are stored, and %d were sent", len(items), total)
	}
}

func TestConsumersApplyOnceWhatASubscriberGivesAgain(t *testing.T) {
	t.Parallel()
	for name, oneByOne := range map[string]bool{"a subscriber that waits for each ack": true, "one that does not": false} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			g := newGroup()
			g.oneByOne = oneByOne
			s := inboxStore(t)
			var calls atomic.Int64
			consume := func() (end func()) {
				c, err := inbox.NewConsumer(inbox.ConsumerOptions[*memstore.Tx]{
					Store: s, Source: openSource(t, g.member(), watermillbroker.SourceOptions{CloseSubscriber: true}), Consumer: "billing",
					Logger: slog.New(slog.DiscardHandler), Retry: inbox.Retry{Min: time.Millisecond, Max: time.Millisecond},
					Handle: func(ctx context.Context, tx *memstore.Tx, m *inbox.Message) error {
						if calls.Add(1)%10 == 0 {
							return errors.New("not now")
						}
						return s.Append(ctx, tx, "inbox", []postbag.Message{{ID: postbag.NewID(), Topic: "applied", Payload: m.Payload}})
					},
				})
				if err != nil {
					t.Fatal(err)
				}
				return runs(t, c.Run)
			}
			const total = 100
			all := make([]*message.Message, total)
			for i := range all {
				all[i] = made(fmt.Sprint(i))
			}
			end := consume()
			g.send("orders", all...)
			until(t, "ten messages are applied", func() bool { return len(listed(t, s)) >= 10 })
			end()
			g.send("orders", all[:50]...) // the broker repeats them
			consume()
			until(t, "all is applied", func() bool { return len(listed(t, s)) >= total && g.holds("orders") == 0 })
			applied := map[string]int{}
			for _, it := range listed(t, s) {
				applied[string(it.Payload)]++
			}
			for payload, n := range applied {
				if n != 1 {
					t.Errorf("message %s is applied %d times", payload, n)
				}
			}
		})
	}
}

func until(t *testing.T, what string, is func() bool) {
	t.Helper()
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	ctx := patient(t)
	for !is() {
		select {
		case <-tick.C:
		case <-ctx.Done():
			t.Fatalf("it does not happen that %s", what)
		}
	}
}
