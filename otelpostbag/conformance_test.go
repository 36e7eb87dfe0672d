package otelpostbag_test

import (
	"testing"

	"github.com/postbag/postbag/broker"
	"github.com/postbag/postbag/broker/brokertest"
	"github.com/postbag/postbag/broker/membroker"
	"github.com/postbag/postbag/otelpostbag"
)

const topic = "conformance"

// The suite of destinations, for one that is traced, by code that works and by code that
// panics.
func TestATracedDestinationConforms(t *testing.T) {
	t.Parallel()
	for name, o := range map[string]otelpostbag.Options{
		"telemetry":          {},
		"a broken one":       {TracerProvider: badTracers{}, MeterProvider: badMeters{}, Propagator: badPropagator{}},
		"one with bad spans": {TracerProvider: badTracers{late: true}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			brokertest.Run(t, harness(record(t, o).tel))
		})
	}
}

// harness makes each fixture a broker in memory of its own, behind telemetry.
func harness(tel *otelpostbag.Telemetry) brokertest.Harness {
	options := func(topics ...string) membroker.Options {
		return membroker.Options{Ordered: true, Transactions: true, MaxBytes: 64 << 10, Topics: topics}
	}
	fixture := func(d *membroker.Destination) brokertest.Fixture {
		return brokertest.Fixture{
			Destination: broker.Wrap(d, tel.Relay), Topic: topic,
			Stored: func(*testing.T) []brokertest.Received { return stored(d) },
			Wired:  func(*testing.T) []brokertest.Wired { return wired(d) },
		}
	}
	faulty := func(set func(*membroker.Destination, bool)) func(*testing.T) (brokertest.Fixture, brokertest.Switch) {
		return func(*testing.T) (brokertest.Fixture, brokertest.Switch) {
			d := membroker.New(options())
			return fixture(d), brokertest.Switch{Off: func() { set(d, true) }, On: func() { set(d, false) }}
		}
	}
	return brokertest.Harness{
		On:                 "memory",
		Open:               func(*testing.T) brokertest.Fixture { return fixture(membroker.New(options())) },
		Outage:             faulty((*membroker.Destination).SetDown),
		Mute:               faulty((*membroker.Destination).SetMute),
		MisconfiguredScope: broker.ScopeTopic,
		Misconfigured: func(*testing.T) (brokertest.Fixture, brokertest.Switch) {
			d := membroker.New(options("another"))
			return fixture(d), brokertest.Switch{On: func() { d.AddTopic(topic) }}
		},
		Topics: func(*testing.T) (brokertest.Fixture, string, brokertest.Switch) {
			d := membroker.New(options(topic))
			return fixture(d), "another", brokertest.Switch{On: func() { d.AddTopic("another") }}
		},
		TooLarge: 64<<10 + 1,
		Nulls:    true,
		Features: broker.Features{Ordered: true, Transactions: true, MaxBytes: 64 << 10},
	}
}

func stored(d *membroker.Destination) (all []brokertest.Received) {
	for _, r := range d.Taken() {
		if r.Topic == topic {
			all = append(all, brokertest.Received{ID: r.ID, Topic: r.Topic, Key: r.Key, Type: r.Type, At: r.At, Headers: r.Headers, Payload: r.Payload})
		}
	}
	return all
}

func wired(d *membroker.Destination) (all []brokertest.Wired) {
	for _, r := range d.Taken() {
		w := broker.Wire{Headers: r.Headers}
		if r.Wire != nil {
			w = *r.Wire
		}
		all = append(all, brokertest.Wired{Headers: w.Headers, ContentType: w.ContentType, Payload: r.Payload, Null: w.Null})
	}
	return all
}
