package relay_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/postbag/postbag"
	"github.com/postbag/postbag/broker"
	"github.com/postbag/postbag/broker/membroker"
	"github.com/postbag/postbag/format"
	"github.com/postbag/postbag/relay"
	"github.com/postbag/postbag/store"
	"github.com/postbag/postbag/store/memstore"
)

// taken are the payloads that the broker has, in order.
func (w *world) taken() (payloads []string) {
	for _, r := range w.to.Taken() {
		payloads = append(payloads, string(r.Payload))
	}
	return payloads
}

// retrying are the messages that wait for their next attempt, by payload.
func (w *world) retrying() map[string]store.Item {
	w.t.Helper()
	list, _, err := w.store.List(w.t.Context(), store.Query{Ref: store.Ref{Box: "outbox", Subscription: "default"}, State: store.StateRetrying})
	if err != nil {
		w.t.Fatal(err)
	}
	all := map[string]store.Item{}
	for _, item := range list {
		shown, err := w.store.Show(w.t.Context(), "outbox", item.ID)
		if err != nil {
			w.t.Fatal(err)
		}
		all[string(shown[0].Payload)] = item
	}
	return all
}

func TestAMessageIsRenderedWhenItIsDelivered(t *testing.T) {
	t.Parallel()
	for name, once := range map[string]bool{"at least once": false, "exactly once": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, memstore.Options{}, membroker.Options{Ordered: true, Transactions: true, Binding: broker.BindingKafka})
			w.send(postbag.Message{Payload: []byte("7"), Headers: map[string]string{"own": "x"}})
			var version atomic.Int64
			version.Store(2) // what it was published with was older
			r := w.relay(relay.Options{Subscriptions: []relay.Subscription{{
				ExactlyOnce: once, Headers: map[string]string{"tenant": "acme"}, Encoder: format.Plain{},
				Render: func(_ context.Context, m broker.Delivery) ([]byte, map[string]string, error) {
					headers := maps.Clone(m.Headers)
					headers["rendered"] = fmt.Sprint(version.Load())
					return fmt.Appendf(nil, "order %s of %s", m.Payload, m.Headers["tenant"]), headers, nil
				},
			}}})
			if err := r.Drain(t.Context()); err != nil {
				t.Fatal(err)
			}
			got := w.to.Taken()[0]
			if string(got.Payload) != "order 7 of acme" {
				t.Errorf("the payload is %q", got.Payload)
			}
			for name, want := range map[string]string{"own": "x", "tenant": "acme", "rendered": "2"} {
				if got.Wire == nil || got.Wire.Headers[name] != want {
					t.Errorf("the encoder made %+v, want %s of %q", got.Wire, name, want)
				}
			}
		})
	}
}

// failing renders each message as it is, but those whose payload names a fault.
func failing(_ context.Context, m broker.Delivery) (payload []byte, headers map[string]string, err error) {
	switch string(m.Payload) {
	case "error":
		return nil, nil, errors.New("no template")
	case "panic":
		panic("CANARY")
	case "large":
		return make([]byte, postbag.MaxPayload+1), nil, nil
	case "headers":
		return nil, map[string]string{"Postbag-Id": "CANARY"}, nil
	}
	return m.Payload, m.Headers, nil
}

func TestAMessageThatCannotBeRenderedFailsAloneAndHoldsItsKeyBack(t *testing.T) {
	t.Parallel()
	for name, once := range map[string]bool{"at least once": false, "exactly once": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, memstore.Options{}, membroker.Options{Ordered: true, Transactions: true})
			faults := map[string]string{
				"error": "the message cannot be rendered: no template", "panic": "Render panicked (string)",
				"large": "16777217 bytes, 16777216 allowed", "headers": `headers["Postbag-Id"] begins with Postbag-`,
			}
			var msgs []postbag.Message
			for fault := range faults {
				of := func(payload string) postbag.Message { return postbag.Message{Key: fault, Payload: []byte(payload)} }
				msgs = append(msgs, of("before "+fault), of(fault), of("behind "+fault), postbag.Message{Payload: []byte("beside " + fault)})
			}
			w.send(msgs...)
			r := w.relay(relay.Options{Subscriptions: []relay.Subscription{{Render: failing, ExactlyOnce: once}}})
			stop := w.run(r)
			w.delivered(2 * len(faults))
			w.eventually("all at fault are parked", func() bool { return len(w.retrying()) == len(faults) })
			stop()
			taken := strings.Join(w.taken(), "\n")
			retrying := w.retrying()
			for fault, reason := range faults {
				if !strings.Contains(taken, "before "+fault) || !strings.Contains(taken, "beside "+fault) || strings.Contains(taken, "behind "+fault) {
					t.Errorf("%s: the broker has\n%s", fault, taken)
				}
				if v := retrying[fault]; v.Attempts != 1 || !strings.Contains(v.Reason, reason) || strings.Contains(v.Reason, "CANARY") {
					t.Errorf("%s: %d attempts, and the reason %q", fault, v.Attempts, v.Reason)
				}
			}
		})
	}
}

// A message that takes all the time costs the others of its call no attempt, and they are
// delivered although it comes again and again.
func TestAMessageThatTakesTooLongToRenderFailsAlone(t *testing.T) {
	t.Parallel()
	w := newWorld(t, memstore.Options{}, membroker.Options{Ordered: true})
	w.send(
		postbag.Message{Key: "a", Payload: []byte("first")}, postbag.Message{Key: "b", Payload: []byte("slow")},
		postbag.Message{Key: "b", Payload: []byte("behind")}, postbag.Message{Key: "c", Payload: []byte("last")},
	)
	var slow atomic.Int64
	r := w.relay(relay.Options{Subscriptions: []relay.Subscription{{
		Timeout: 400 * time.Millisecond,
		Render: func(ctx context.Context, m broker.Delivery) ([]byte, map[string]string, error) {
			if string(m.Payload) == "slow" {
				slow.Add(1)
				<-ctx.Done()
				return nil, nil, ctx.Err()
			}
			return m.Payload, m.Headers, nil
		},
	}}})
	if err := r.Drain(t.Context()); err != nil {
		t.Fatal(err)
	}
	if got := strings.Join(w.taken(), " "); got != "first last" {
		t.Errorf("the broker has %q", got)
	}
	if v := w.retrying()["slow"]; v.Attempts != 1 || !strings.Contains(v.Reason, "deadline exceeded") {
		t.Errorf("it has %d attempts, and the reason %q", v.Attempts, v.Reason)
	}
	if slow.Load() != 1 {
		t.Errorf("it was rendered %d times", slow.Load())
	}
}

// A page that takes longer to render than a call may take goes out piece by piece.
func TestMessagesThatAreSlowToRenderTogetherAreAllDelivered(t *testing.T) {
	t.Parallel()
	w := newWorld(t, memstore.Options{}, membroker.Options{Ordered: true})
	w.publish(30, 30)
	r := w.relay(relay.Options{Subscriptions: []relay.Subscription{{
		Timeout: 200 * time.Millisecond, Concurrency: 1,
		Render: func(ctx context.Context, m broker.Delivery) ([]byte, map[string]string, error) {
			select {
			case <-time.After(20 * time.Millisecond):
				return m.Payload, m.Headers, nil
			case <-ctx.Done():
				return nil, nil, ctx.Err()
			}
		},
	}}})
	if err := r.Drain(t.Context()); err != nil {
		t.Fatal(err)
	}
	w.inOrder()
	if retrying := w.retrying(); len(retrying) > 0 {
		t.Errorf("%d wait for another attempt", len(retrying))
	}
}

func TestARepeatedMessageHasItsIDAndTheBytesOfTheLastRendering(t *testing.T) {
	t.Parallel()
	w := newWorld(t, memstore.Options{}, membroker.Options{})
	w.send(postbag.Message{Payload: []byte("m")})
	var calls atomic.Int64
	var ids []postbag.ID
	lost := func(next broker.Destination) broker.Destination {
		return lostOnce{next, new(atomic.Bool)}
	}
	r := w.relay(relay.Options{Subscriptions: []relay.Subscription{{
		To: broker.Wrap(w.to, lost),
		Render: func(_ context.Context, m broker.Delivery) ([]byte, map[string]string, error) {
			ids = append(ids, m.ID) // one message: one call at a time
			return fmt.Appendf(nil, "rendered %d", calls.Add(1)), nil, nil
		},
	}}})
	if err := r.Drain(t.Context()); err != nil {
		t.Fatal(err)
	}
	if got := strings.Join(w.taken(), ", "); got != "rendered 1, rendered 2" || ids[0] != ids[1] {
		t.Errorf("the broker has %s, of %v", got, ids)
	}
}

// lostOnce loses the answers of the first call.
type lostOnce struct {
	broker.Destination

	lost *atomic.Bool
}

func (l lostOnce) Publish(ctx context.Context, msgs []broker.Delivery, report func(i int, r broker.Result)) {
	l.Destination.Publish(ctx, msgs, func(i int, r broker.Result) {
		if l.lost.CompareAndSwap(false, true) {
			r = broker.Result{}
		}
		report(i, r)
	})
}
