package relay_test

import (
	"context"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/postbag/postbag/broker"
	"github.com/postbag/postbag/broker/membroker"
	"github.com/postbag/postbag/format"
	"github.com/postbag/postbag/relay"
	"github.com/postbag/postbag/store/memstore"
)

// watching counts messages and looks at each.
type watching struct {
	broker.Destination

	seen *atomic.Int64
	look func(m *broker.Delivery)
}

func (w watching) Publish(ctx context.Context, msgs []broker.Delivery, report func(i int, r broker.Result)) {
	for i := range msgs {
		w.look(&msgs[i])
	}
	w.Destination.Publish(ctx, msgs, func(i int, r broker.Result) {
		if r.Outcome == broker.Accepted {
			w.seen.Add(1)
		}
		report(i, r)
	})
}

func TestMiddlewareSeesMessagesAsTheyAreInTheBox(t *testing.T) {
	t.Parallel()
	for name, once := range map[string]bool{"at least once": false, "exactly once": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, memstore.Options{}, membroker.Options{Ordered: true, Transactions: true, Binding: broker.BindingKafka})
			w.publish(40, 4)
			var plain, encoded atomic.Int64
			before := func(next broker.Destination) broker.Destination {
				return watching{next, &plain, func(m *broker.Delivery) {
					if m.Wire != nil || m.Topic != "t" {
						t.Errorf("before the encoder a message is %+v", *m)
					}
				}}
			}
			behind := func(next broker.Destination) broker.Destination {
				return watching{next, &encoded, func(m *broker.Delivery) {
					if m.Wire == nil || !strings.HasPrefix(m.Topic, "outbox.event.") {
						t.Errorf("behind the encoder a message is %+v", *m)
					}
				}}
			}
			r := w.relay(relay.Options{Subscriptions: []relay.Subscription{{
				To: broker.Wrap(w.to, behind), Use: []broker.Middleware{before}, Encoder: format.Debezium{}, ExactlyOnce: once,
			}}})
			if err := r.Drain(t.Context()); err != nil {
				t.Fatal(err)
			}
			w.inOrder()
			if plain.Load() != 40 || encoded.Load() != 40 || w.to.Len() != 40 {
				t.Errorf("%d messages before the encoder, %d behind it, %d stored; want 40 of each", plain.Load(), encoded.Load(), w.to.Len())
			}
		})
	}
}
