package membroker_test

import (
	"testing"

	"github.com/postbag/postbag/broker"
	"github.com/postbag/postbag/broker/brokertest"
	"github.com/postbag/postbag/broker/membroker"
)

const topic = "conformance"

func TestAnUnorderedBrokerConforms(t *testing.T) {
	t.Parallel()
	brokertest.Run(t, harness(membroker.Options{MaxBytes: 64 << 10}))
}

func TestAnOrderedBrokerWithAFenceConforms(t *testing.T) {
	t.Parallel()
	brokertest.Run(t, harness(membroker.Options{Ordered: true, Fence: true, MaxBytes: 64 << 10, MaxBatch: 100, Binding: broker.BindingKafka}))
}

func TestABrokerWithTransactionsConforms(t *testing.T) {
	t.Parallel()
	brokertest.Run(t, harness(membroker.Options{Ordered: true, Transactions: true, MaxBytes: 64 << 10}))
}

// harness makes each fixture a broker of its own with these options.
func harness(o membroker.Options) brokertest.Harness {
	open := func(*testing.T) brokertest.Fixture { return fixture(membroker.New(o)) }
	faulty := func(set func(*membroker.Destination, bool)) func(*testing.T) (brokertest.Fixture, brokertest.Switch) {
		return func(*testing.T) (brokertest.Fixture, brokertest.Switch) {
			d := membroker.New(o)
			return fixture(d), brokertest.Switch{Off: func() { set(d, true) }, On: func() { set(d, false) }}
		}
	}
	expected := broker.Features{Ordered: o.Ordered, MaxBytes: o.MaxBytes, MaxBatch: o.MaxBatch, Binding: o.Binding, Transactions: o.Transactions}
	if o.Fence {
		expected.Fences = "id"
	}
	return brokertest.Harness{
		On:                 "memory",
		Open:               open,
		Outage:             faulty((*membroker.Destination).SetDown),
		Mute:               faulty((*membroker.Destination).SetMute),
		MisconfiguredScope: broker.ScopeTopic,
		Misconfigured: func(*testing.T) (brokertest.Fixture, brokertest.Switch) {
			o := o
			o.Topics = []string{"another"}
			d := membroker.New(o)
			return fixture(d), brokertest.Switch{On: func() { d.AddTopic(topic) }}
		},
		Topics: func(*testing.T) (brokertest.Fixture, string, brokertest.Switch) {
			o := o
			o.Topics = []string{topic}
			d := membroker.New(o)
			return fixture(d), "another", brokertest.Switch{On: func() { d.AddTopic("another") }}
		},
		TooLarge: o.MaxBytes + 1,
		Features: expected,
		Nulls:    true,
	}
}

func fixture(d *membroker.Destination) brokertest.Fixture {
	return brokertest.Fixture{
		Destination: d, Topic: topic,
		Wired: func(*testing.T) []brokertest.Wired {
			var held []brokertest.Wired
			for _, r := range d.Taken() {
				w := broker.Wire{Headers: r.Headers}
				if r.Wire != nil {
					w = *r.Wire
				}
				held = append(held, brokertest.Wired{Headers: w.Headers, ContentType: w.ContentType, Payload: r.Payload, Null: w.Null})
			}
			return held
		},
		Stored: func(*testing.T) []brokertest.Received {
			var held []brokertest.Received
			for _, r := range d.Taken() {
				if r.Topic != topic {
					continue
				}
				held = append(held, brokertest.Received{
					ID: r.ID, Topic: r.Topic, Key: r.Key, Type: r.Type, At: r.At, Headers: r.Headers, Payload: r.Payload,
				})
			}
			return held
		},
	}
}
