package relay_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/postbag/postbag/broker"
	"github.com/postbag/postbag/broker/membroker"
	"github.com/postbag/postbag/relay"
	"github.com/postbag/postbag/store"
	"github.com/postbag/postbag/store/memstore"
)

func TestADrainSaysWhichShardsAnotherRelayHolds(t *testing.T) {
	t.Parallel()
	w := newWorld(t, memstore.Options{}, membroker.Options{})
	stuck := membroker.New(membroker.Options{})
	stuck.FailTopic("t", broker.Unavailable)
	other := w.relay(relay.Options{Name: "the other", Subscriptions: []relay.Subscription{{To: stuck}}})
	stop := w.run(other)
	w.eventually("the other relay has shards", func() bool {
		s := other.Stats()
		return len(s.Subscriptions) > 0 && s.Subscriptions[0].Shards > 0
	})
	if err := w.relay(relay.Options{}).Drain(t.Context()); err != nil {
		t.Errorf("the drain beside another relay, with nothing that waits: %v", err)
	}
	w.publish(10, 10)
	w.eventually("what the other relay has waits", func() bool { return w.overview().Parked[store.ParkHeld] == 10 })
	err := w.relay(relay.Options{}).Drain(t.Context())
	if !errors.Is(err, relay.ErrHeld) || !strings.Contains(err.Error(), "shards of outbox/default, by the other") {
		t.Errorf("the drain beside another relay: %v", err)
	}
	stop()
	if err := w.relay(relay.Options{}).Drain(t.Context()); err != nil {
		t.Errorf("the drain after the other relay's end: %v", err)
	}
	w.delivered(10)
}
