package relay_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/postbag/postbag/broker"
	"github.com/postbag/postbag/broker/membroker"
	"github.com/postbag/postbag/format"
	"github.com/postbag/postbag/relay"
	"github.com/postbag/postbag/store/memstore"
)

func TestASubscriptionEncodesWhatItSends(t *testing.T) {
	t.Parallel()
	w := newWorld(t, memstore.Options{}, membroker.Options{Binding: broker.BindingKafka})
	w.publish(20, 4)
	r := w.relay(relay.Options{Subscriptions: []relay.Subscription{{Encoder: format.Debezium{}}}})
	if err := r.Drain(t.Context()); err != nil {
		t.Fatal(err)
	}
	w.inOrder()
	for _, m := range w.to.Taken() {
		if m.Topic != "outbox.event.t" || m.Wire == nil || m.Wire.Headers["id"] != m.ID.String() {
			t.Fatalf("it sent %+v", m.Delivery)
		}
	}
}

// A message that cannot be encoded is parked like one that the destination rejects,
// and its key waits behind it.
func TestAMessageThatCannotBeEncodedIsParked(t *testing.T) {
	t.Parallel()
	w := newWorld(t, memstore.Options{}, membroker.Options{Ordered: true})
	w.publish(30, 3)
	broken := format.Func(func(m *broker.Delivery, _ string) error {
		if string(m.Payload) == "key-1/4" {
			return errors.New("no schema for it")
		}
		m.Wire = &broker.Wire{}
		return nil
	})
	r := w.relay(relay.Options{Subscriptions: []relay.Subscription{{Encoder: broken, Retry: relay.Retry{Min: time.Hour, Max: time.Hour}}}})
	if err := r.Drain(t.Context()); err != nil {
		t.Fatal(err)
	}
	if n := w.to.Len(); n != 24 {
		t.Errorf("%d messages arrived, want all but the bad one and the five behind it", n)
	}
	if n := len(w.to.OfKey("key-1")); n != 4 {
		t.Errorf("%d messages of its key arrived, want the four before it", n)
	}
}

func TestExactlyOnceDeliveriesAreEncoded(t *testing.T) {
	t.Parallel()
	w := newWorld(t, memstore.Options{}, membroker.Options{Ordered: true, Transactions: true, Binding: broker.BindingKafka})
	w.publish(40, 4)
	r := w.relay(relay.Options{Subscriptions: []relay.Subscription{{Encoder: format.Debezium{}, ExactlyOnce: true}}})
	if err := r.Drain(t.Context()); err != nil {
		t.Fatal(err)
	}
	w.inOrder()
	for _, m := range w.to.Taken() {
		if m.Topic != "outbox.event.t" || m.Wire == nil {
			t.Fatalf("it sent %+v", m.Delivery)
		}
	}
	if n := w.to.Len(); n != 40 {
		t.Errorf("%d messages arrived, want each once", n)
	}
}

func TestAnEncodersFaultsAreNamedByNew(t *testing.T) {
	t.Parallel()
	_, err := relay.New(memstore.New(memstore.Options{}), relay.Options{Subscriptions: []relay.Subscription{
		{To: membroker.Null(), Encoder: format.CloudEvents{Mode: "x"}},
	}})
	if err == nil || !strings.Contains(err.Error(), "Mode") {
		t.Errorf("New says %v", err)
	}
}
