package kafkabroker_test

import (
	"testing"

	"github.com/postbag/postbag/broker/brokertest"
	"github.com/postbag/postbag/broker/kafkabroker"
)

func TestLanesConformOnARealKafka(t *testing.T) {
	t.Parallel()
	brokers := plainKafka.get(t).Brokers
	// lanes changes a fixture of the other suite into one with transactions.
	lanes := func(t *testing.T, brokers []string, p place, o kafkabroker.Options) brokertest.Fixture {
		o.Transactions = p.withLanes().Transactions
		f := p.fixture(dial(t, brokers, o))
		f.Stored = func(t *testing.T) []brokertest.Received { return received(t, p.committed(t)) }
		return f
	}
	h := harness(brokers)
	h.On = "Kafka 4.1.1, transactions"
	h.Open = func(t *testing.T) brokertest.Fixture {
		return lanes(t, brokers(), newPlace(t, brokers()).create(t), kafkabroker.Options{})
	}
	h.Mute = func(t *testing.T) (brokertest.Fixture, brokertest.Switch) {
		lines := newThrough(t, brokers())
		f := lanes(t, brokers(), newPlace(t, brokers()).create(t), kafkabroker.Options{Login: kafkabroker.Login{Dial: lines.dial}})
		return f, brokertest.Switch{Off: lines.mute, On: func() { lines.unmute(t) }}
	}
	h.Misconfigured = func(t *testing.T) (brokertest.Fixture, brokertest.Switch) {
		p := newPlace(t, brokers())
		return lanes(t, brokers(), p, kafkabroker.Options{}), brokertest.Switch{On: func() { p.create(t) }}
	}
	h.Outage = func(t *testing.T) (brokertest.Fixture, brokertest.Switch) {
		k := frailKafka(t)
		p := newPlace(t, k.Brokers()).create(t)
		return lanes(t, k.Brokers(), p, kafkabroker.Options{}), brokertest.Switch{
			Off: func() { must(t, k.Kill(t.Context())) },
			On: func() {
				must(t, k.Start(t.Context()))
				p.led(t)
			},
		}
	}
	brokertest.RunTransactions(t, h)
}
