package relay_test

import (
	"context"
	"fmt"
	"log/slog"
	"testing"
	"time"

	"github.com/postbag/postbag"
	"github.com/postbag/postbag/broker/membroker"
	"github.com/postbag/postbag/relay"
	"github.com/postbag/postbag/store"
	"github.com/postbag/postbag/store/memstore"
)

// world is a store, a broker, and the relays between them.
type world struct {
	t     *testing.T
	store *memstore.Store
	to    *membroker.Destination
	pub   *postbag.Publisher[*memstore.Tx]
	sent  map[string]int // by key, how many were published
}

func newWorld(t *testing.T, so memstore.Options, bo membroker.Options) *world {
	t.Helper()
	s := memstore.New(so)
	if err := s.CreateBox(t.Context(), "outbox"); err != nil {
		t.Fatal(err)
	}
	p, err := postbag.NewPublisher(s, postbag.PublisherOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return &world{t: t, store: s, to: membroker.New(bo), pub: p, sent: map[string]int{}}
}

// publish commits n messages over so many keys, a few to a transaction.
func (w *world) publish(n, keys int) {
	w.t.Helper()
	for done := 0; done < n; {
		k := min(10, n-done)
		err := w.pub.InTx(w.t.Context(), func(ctx context.Context, tx *memstore.Tx) error {
			for range k {
				key := fmt.Sprintf("key-%d", done%keys)
				m := postbag.Message{Topic: "t", Key: key, Payload: []byte(fmt.Sprintf("%s/%d", key, w.sent[key]))}
				if err := w.pub.Publish(ctx, tx, m); err != nil {
					return err
				}
				w.sent[key]++
				done++
			}
			return nil
		})
		if err != nil {
			w.t.Fatal(err)
		}
	}
}

func (w *world) total() (n int) {
	for _, k := range w.sent {
		n += k
	}
	return n
}

func (w *world) relay(o relay.Options) *relay.Relay {
	w.t.Helper()
	if o.Subscriptions == nil {
		o.Subscriptions = []relay.Subscription{{}}
	}
	for i := range o.Subscriptions {
		if o.Subscriptions[i].To == nil {
			o.Subscriptions[i].To = w.to
		}
	}
	o.Logger = slog.New(slog.NewTextHandler(testWriter{w.t}, nil))
	r, err := relay.New(w.store, o)
	if err != nil {
		w.t.Fatal(err)
	}
	return r
}

type testWriter struct{ t *testing.T }

func (w testWriter) Write(p []byte) (int, error) {
	w.t.Logf("%s", p)
	return len(p), nil
}

// run starts a relay and returns what ends it gracefully.
func (w *world) run(r *relay.Relay) (stop func()) {
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- r.Run(ctx) }()
	stopped := false
	stop = func() {
		if stopped {
			return
		}
		stopped = true
		cancel()
		select {
		case err := <-done:
			if err != nil {
				w.t.Errorf("Run: %v", err)
			}
		case <-time.After(30 * time.Second):
			w.t.Error("Run does not end")
		}
	}
	w.t.Cleanup(stop)
	return stop
}

// delivered waits until n messages were stored by the broker.
func (w *world) delivered(n int) {
	w.t.Helper()
	ctx, cancel := context.WithTimeout(w.t.Context(), 20*time.Second)
	defer cancel()
	if err := w.to.WaitFor(ctx, n); err != nil {
		w.t.Fatalf("%v: %d of %d delivered", err, w.to.Len(), n)
	}
}

// inOrder checks that each key's messages were first accepted in their order, and
// all of them but what waits behind the named keys.
func (w *world) inOrder(but ...string) {
	w.t.Helper()
	seen := map[string]int{}
	for _, r := range w.to.First() {
		want := fmt.Sprintf("%s/%d", r.Key, seen[r.Key])
		if string(r.Payload) != want {
			w.t.Fatalf("got %s where %s was due", r.Payload, want)
		}
		seen[r.Key]++
	}
	for key, n := range w.sent {
		waits := false
		for _, b := range but {
			waits = waits || b == key
		}
		if !waits && seen[key] != n {
			w.t.Errorf("%s: %d of %d delivered", key, seen[key], n)
		}
	}
}

// eventually waits for a condition.
func (w *world) eventually(what string, ok func() bool) {
	w.t.Helper()
	deadline := time.After(20 * time.Second)
	tick := time.NewTicker(2 * time.Millisecond)
	defer tick.Stop()
	for !ok() {
		select {
		case <-tick.C:
		case <-deadline:
			w.t.Fatalf("not in 20 s: %s", what)
		}
	}
}

func (w *world) overview() store.SubscriptionView {
	w.t.Helper()
	o, err := w.store.Overview(w.t.Context())
	if err != nil {
		w.t.Fatal(err)
	}
	for _, s := range o.Boxes[0].Subscriptions {
		if s.Subscription == "default" {
			return s
		}
	}
	w.t.Fatal("no default subscription")
	return store.SubscriptionView{}
}

func message(payload string, notBefore time.Time) postbag.Message {
	return postbag.Message{Topic: "t", Payload: []byte(payload), NotBefore: notBefore}
}
