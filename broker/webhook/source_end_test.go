package webhook

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"
	"time"

	"github.com/postbag/postbag"
	"github.com/postbag/postbag/broker"
	"github.com/postbag/postbag/inbox"
	"github.com/postbag/postbag/relay"
	"github.com/postbag/postbag/store"
	"github.com/postbag/postbag/store/memstore"
)

// unsure loses answers: of each seven requests one is stored and has none, and one is refused before it is read.
func unsure(h http.Handler) http.Handler {
	var n atomic.Int64
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch n.Add(1) % 7 {
		case 3:
			h.ServeHTTP(httptest.NewRecorder(), r)
			panic(http.ErrAbortHandler)
		case 5:
			w.WriteHeader(http.StatusServiceUnavailable)
		default:
			h.ServeHTTP(w, r)
		}
	})
}

func TestWhatADestinationSendsIsStoredOnceInOrderAndUnchangedThoughAnswersAreLost(t *testing.T) {
	t.Parallel()
	w := take(t, nil)
	server := httptest.NewServer(unsure(w.source))
	t.Cleanup(server.Close)
	d := open(t, options(server.URL))
	const total = 300
	left := make([]broker.Delivery, total)
	for i := range left {
		m := sample()
		m.ID, m.Key, m.Payload = postbag.NewID(), fmt.Sprint("key ", i%5), fmt.Append(nil, i)
		m.Headers = map[string]string{"plain": "a%20b", "Grün": "ü=, %", "CASE": "1", "webhook-id": "mine", "empty": ""}
		left[i] = m
	}
	sent := left[0]
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	for tries := 0; len(left) > 0; tries++ {
		if tries == 3 {
			w.end() // another receiver goes on
			w.receive()
		}
		if ctx.Err() != nil {
			t.Fatalf("%d messages are not accepted", len(left))
		}
		var again []broker.Delivery
		for i, r := range broker.Publish(ctx, d, left) {
			if r.Outcome != broker.Accepted {
				again = append(again, left[i])
			}
		}
		left = again
	}
	items := w.box()
	if len(items) != total {
		t.Fatalf("%d messages are stored, and %d were sent", len(items), total)
	}
	var got store.Item
	last := map[string]int{}
	for _, it := range items {
		var n int
		if _, err := fmt.Sscan(string(it.Payload), &n); err != nil {
			t.Fatal(err)
		}
		if before, there := last[it.Key]; there && n != before+5 {
			t.Errorf("of %s message %d comes after %d", it.Key, n, before)
		}
		last[it.Key] = n
		if n == 0 {
			got = it
		}
	}
	want := maps.Clone(sent.Headers)
	want["webhook-id"], want["content-type"] = webhookID(&sent), "application/json"
	if got.Topic != sent.Topic || got.Type != sent.Type || got.Key != sent.Key || !maps.Equal(got.Headers, want) {
		t.Errorf("of %+v the box holds %+v", sent, got)
	}
}

func TestTwoSubscriptionsThatSendOneMessageAreTwoMessages(t *testing.T) {
	t.Parallel()
	w := take(t, nil)
	d := open(t, options(w.server.URL+"/hooks/acme"))
	m := sample()
	m.Box = "outbox"
	for range 2 {
		for _, name := range []string{"one", "two"} {
			m.Subscription = name
			want(t, publish(t.Context(), d, m), broker.Accepted)
		}
	}
	w.holds(string(m.Payload), string(m.Payload))
}

func TestARelayDeliversFromAnOutboxIntoAnInbox(t *testing.T) {
	t.Parallel()
	w := take(t, nil)
	outbox := memstore.New(memstore.Options{})
	if err := outbox.CreateBox(t.Context(), "outbox"); err != nil {
		t.Fatal(err)
	}
	pub, err := postbag.NewPublisher(outbox, postbag.PublisherOptions{})
	if err != nil {
		t.Fatal(err)
	}
	err = pub.InTx(t.Context(), func(ctx context.Context, tx *memstore.Tx) error {
		for n := range 100 {
			m := postbag.Message{Topic: "orders", Type: "order.created", Key: fmt.Sprint("key ", n%7), Payload: fmt.Append(nil, n)}
			if err := pub.Publish(ctx, tx, m); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	rel, err := relay.New(outbox, relay.Options{
		Subscriptions: []relay.Subscription{{To: open(t, options(w.server.URL+"/hooks/acme"))}},
		Logger:        slog.New(slog.DiscardHandler),
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := rel.Drain(t.Context()); err != nil {
		t.Fatal(err)
	}
	last, items := map[string]int{}, w.box()
	for _, it := range items {
		var n int
		if _, err := fmt.Sscan(string(it.Payload), &n); err != nil {
			t.Fatal(err)
		}
		if before, there := last[it.Key]; there && n != before+7 || it.Key != fmt.Sprint("key ", n%7) || it.Topic != "orders" || it.Type != "order.created" {
			t.Errorf("message %d of %s, topic %s and type %s comes after %d", n, it.Key, it.Topic, it.Type, before)
		}
		last[it.Key] = n
	}
	if len(items) != 100 {
		t.Errorf("%d messages are stored, and 100 were sent", len(items))
	}
}

func TestAConsumerAnswersWhenItsHandlersTransactionHasCommitted(t *testing.T) {
	t.Parallel()
	w := openEndpoint(t, nil)
	var calls atomic.Int64
	c, err := inbox.NewConsumer(inbox.ConsumerOptions[*memstore.Tx]{
		Store: w.store, Source: w.source, Consumer: "billing", Logger: slog.New(slog.NewTextHandler(w.log, nil)),
		Retry: inbox.Retry{Min: time.Millisecond, Max: time.Millisecond},
		Handle: func(ctx context.Context, tx *memstore.Tx, m *inbox.Message) error {
			if err := w.store.Append(ctx, tx, "inbox", []postbag.Message{{ID: postbag.NewID(), Topic: "applied", Payload: m.Payload}}); err != nil {
				return err
			}
			if calls.Add(1) < 3 {
				return errors.New("not yet")
			}
			return nil
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- c.Run(ctx) }()
	for range 2 {
		w.answers(http.StatusNoContent, w.hook("msg_1", "one"))
		w.holds("one")
	}
	if n := calls.Load(); n != 3 {
		t.Errorf("the handler was called %d times, want 3", n)
	}
	cancel()
	if err := <-ended; err != nil {
		t.Errorf("the consumer ended with %v", err)
	}
}
