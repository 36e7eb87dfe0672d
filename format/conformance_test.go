package format_test

import (
	"testing"

	"github.com/postbag/postbag/broker"
	"github.com/postbag/postbag/broker/brokertest"
	"github.com/postbag/postbag/broker/membroker"
	"github.com/postbag/postbag/format"
)

// What an encoder stands before keeps the whole contract, and plain loses nothing,
// whether headers are raw or ASCII.
func TestAnEncodedDestinationConforms(t *testing.T) {
	t.Parallel()
	brokertest.Run(t, harness(membroker.Options{Ordered: true, Transactions: true, MaxBytes: 32 << 10}, brokertest.FromHeaders))
}

func TestAnEncodedDestinationWithHeadersInASCIIConforms(t *testing.T) {
	t.Parallel()
	brokertest.Run(t, harness(membroker.Options{Fence: true, MaxBytes: 32 << 10, MaxBatch: 100, Binding: broker.BindingNATS}, brokertest.FromASCII))
}

func TestAnEncodedDestinationWithTransactionsConforms(t *testing.T) {
	t.Parallel()
	o := membroker.Options{Ordered: true, Transactions: true, MaxBytes: 32 << 10, MaxBatch: 100, Binding: broker.BindingNATS}
	brokertest.RunTransactions(t, harness(o, brokertest.FromASCII))
}

type decode func(topic string, headers map[string]string, payload []byte) (brokertest.Received, error)

func harness(o membroker.Options, d decode) brokertest.Harness {
	open := func(*testing.T) (*membroker.Destination, brokertest.Fixture) {
		m := membroker.New(o)
		return m, fixture(m, d)
	}
	faulty := func(set func(*membroker.Destination, bool)) func(*testing.T) (brokertest.Fixture, brokertest.Switch) {
		return func(t *testing.T) (brokertest.Fixture, brokertest.Switch) {
			m, f := open(t)
			return f, brokertest.Switch{Off: func() { set(m, true) }, On: func() { set(m, false) }}
		}
	}
	features := membroker.New(o).Features()
	return brokertest.Harness{
		Open: func(t *testing.T) brokertest.Fixture {
			_, f := open(t)
			return f
		},
		Outage:             faulty((*membroker.Destination).SetDown),
		Mute:               faulty((*membroker.Destination).SetMute),
		MisconfiguredScope: broker.ScopeTopic,
		Misconfigured: func(*testing.T) (brokertest.Fixture, brokertest.Switch) {
			o := o
			o.Topics = []string{"another"}
			m := membroker.New(o)
			return fixture(m, d), brokertest.Switch{On: func() { m.AddTopic("formats") }}
		},
		Topics: func(*testing.T) (brokertest.Fixture, string, brokertest.Switch) {
			o := o
			o.Topics = []string{"formats"}
			m := membroker.New(o)
			return fixture(m, d), "another", brokertest.Switch{} // Stored knows one topic
		},
		On:       "memory, behind an encoder",
		TooLarge: o.MaxBytes + 1,
		Lacks:    map[brokertest.Part]string{brokertest.PartWire: "the encoder before the destination makes every Wire"},
		Features: features,
		Reserved: []string{"Nats-Rollup", "Status", "Content-Length"},
	}
}

func fixture(m *membroker.Destination, d decode) brokertest.Fixture {
	return brokertest.Fixture{
		Destination: broker.Wrap(m, format.Encode(format.Plain{})), Topic: "formats",
		Stored: func(t *testing.T) []brokertest.Received {
			t.Helper()
			var held []brokertest.Received
			for _, r := range m.Taken() {
				got, err := d(r.Topic, r.Wire.Headers, r.Payload)
				if err != nil {
					t.Fatal(err)
				}
				held = append(held, got)
			}
			return held
		},
	}
}
