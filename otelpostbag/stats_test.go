package otelpostbag_test

import (
	"testing"
	"time"

	"go.opentelemetry.io/otel/attribute"

	"github.com/postbag/postbag/otelpostbag"
	"github.com/postbag/postbag/relay"
	"github.com/postbag/postbag/store"
)

func TestTheStatsOfARelayBecomeMetricsUntilTheyAreStopped(t *testing.T) {
	t.Parallel()
	r := record(t, otelpostbag.Options{})
	stats := relay.Stats{Ready: true, Relays: 3, Turns: 7, Subscriptions: []relay.SubscriptionStats{
		{Ref: store.Ref{Box: "outbox", Subscription: "audit"}, Circuit: "open", Delivered: 5, Unsettled: 2, Throttled: 7 * time.Second, Pauses: relay.Pauses{Topic: 2, Key: 1}},
		{Ref: store.Ref{Box: "outbox", Subscription: "default"}, Circuit: "closed", Delivered: 6},
	}}
	stop, err := r.tel.Observe(func() relay.Stats { return stats }, attribute.String("relay", "a"))
	fail(t, err)
	audit, relayA := attribute.String("postbag.subscription", "audit"), attribute.String("relay", "a")
	for _, c := range []struct {
		name string
		want int64
		of   []attribute.KeyValue
	}{
		{"postbag.relay.ready", 1, []attribute.KeyValue{relayA}},
		{"postbag.relays", 3, []attribute.KeyValue{relayA}},
		{"postbag.store.turns", 7, []attribute.KeyValue{relayA}},
		{"postbag.circuit.open", 1, nil},
		{"postbag.messages.delivered", 5, []attribute.KeyValue{relayA, audit, attribute.String("postbag.box", "outbox")}},
		{"postbag.messages.delivered", 11, nil},
		{"postbag.messages.unsettled", 2, []attribute.KeyValue{audit}},
		{"postbag.paused", 3, []attribute.KeyValue{relayA, audit}},
		{"postbag.throttled", 7, []attribute.KeyValue{relayA, audit}},
	} {
		if got := r.value(c.name, c.of...); got != c.want {
			t.Errorf("%s of %v is %d, want %d", c.name, c.of, got, c.want)
		}
	}
	stop()
	stop()
	if got := r.value("postbag.relays"); got != 0 {
		t.Errorf("after stop there are %d relays", got)
	}
}

func TestARelayWhoseStatsPanicHidesNoOtherMetric(t *testing.T) {
	t.Parallel()
	r := record(t, otelpostbag.Options{})
	_, err := r.tel.Observe(func() relay.Stats { panic("bad") }, attribute.String("relay", "a"))
	fail(t, err)
	_, err = r.tel.Observe(func() relay.Stats { return relay.Stats{Relays: 1} }, attribute.String("relay", "b"))
	fail(t, err)
	if got := r.value("postbag.relays"); got != 1 {
		t.Errorf("there are %d relays, want 1", got)
	}
}
