package kafkabroker_test

import (
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kfake"

	"github.com/postbag/postbag/broker"
	"github.com/postbag/postbag/broker/brokertest"
	"github.com/postbag/postbag/broker/kafkabroker"
)

func TestADestinationConformsOnARealKafka(t *testing.T) {
	t.Parallel()
	h := harness(plainKafka.get(t).Brokers)
	h.On = "Kafka 4.1.1"
	h.Outage = func(t *testing.T) (brokertest.Fixture, brokertest.Switch) {
		k := frailKafka(t)
		p := newPlace(t, k.Brokers()).create(t)
		return p.fixture(dial(t, k.Brokers(), kafkabroker.Options{})), brokertest.Switch{
			Off: func() { must(t, k.Kill(t.Context())) },
			On: func() {
				must(t, k.Start(t.Context()))
				p.led(t)
			},
		}
	}
	brokertest.Run(t, h)
}

// The fake is in this process: it is the same code of ours in a third of the time,
// and another broker's answers.
func TestADestinationConformsOnAFakeKafka(t *testing.T) {
	t.Parallel()
	fake, err := kfake.NewCluster(kfake.NumBrokers(3), kfake.SleepOutOfOrder())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(fake.Close)
	h := harness(fake.ListenAddrs)
	h.On = "franz-go's fake Kafka"
	h.Lacks = map[brokertest.Part]string{brokertest.PartOutage: "the fake forgets what it holds when it ends"}
	brokertest.Run(t, h)
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// harness is what both have in common. One of the destinations shares batches among
// calls.
func harness(brokers func() []string) brokertest.Harness {
	return brokertest.Harness{
		Open: func(t *testing.T) brokertest.Fixture {
			p := newPlace(t, brokers()).create(t)
			return p.fixture(dial(t, brokers(), kafkabroker.Options{}))
		},
		Mute: func(t *testing.T) (brokertest.Fixture, brokertest.Switch) {
			p := newPlace(t, brokers()).create(t)
			lines := newThrough(t, brokers())
			d := dial(t, brokers(), kafkabroker.Options{Login: kafkabroker.Login{Dial: lines.dial}})
			return p.fixture(d), brokertest.Switch{Off: lines.mute, On: func() { lines.unmute(t) }}
		},
		MisconfiguredScope: broker.ScopeTopic,
		Misconfigured: func(t *testing.T) (brokertest.Fixture, brokertest.Switch) {
			p := newPlace(t, brokers())
			f := p.fixture(dial(t, brokers(), kafkabroker.Options{}))
			made := false
			f.Stored = func(t *testing.T) []brokertest.Received {
				if !made {
					return nil // there is nothing to hold anything
				}
				return p.stored(t)
			}
			return f, brokertest.Switch{On: func() {
				p.create(t)
				made = true
			}}
		},
		Topics: func(t *testing.T) (brokertest.Fixture, string, brokertest.Switch) {
			p, other := newPlace(t, brokers()).create(t), newPlace(t, brokers())
			return p.fixture(dial(t, brokers(), kafkabroker.Options{})), other.topic, brokertest.Switch{On: func() { other.create(t) }}
		},
		TooLarge: 1 << 20,
		Features: broker.Features{Ordered: true, Binding: broker.BindingKafka},
		Nulls:    true,
		Reserved: []string{"content-type", "Postbag-Id", "Postbag-Made", "__TypeId__"},
		Patience: time.Minute,
	}
}
