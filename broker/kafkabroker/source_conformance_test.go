package kafkabroker_test

import (
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/postbag/postbag/broker/kafkabroker"
	"github.com/postbag/postbag/internal/publishtest"
	"github.com/postbag/postbag/source"
	"github.com/postbag/postbag/source/sourcetest"
)

func TestASourceConformsOnARealKafka(t *testing.T) {
	t.Parallel()
	h := sourceHarness(plainKafka.get(t).Brokers)
	h.On = "Kafka 4.1.1"
	h.Outage = func(t *testing.T) (sourcetest.Fixture, sourcetest.Switch) {
		k := frailKafka(t)
		p := newPlace(t, k.Brokers()).create(t)
		return p.sourceFixture(t), sourcetest.Switch{
			Off: func() { must(t, k.Kill(t.Context())) },
			On: func() {
				must(t, k.Start(t.Context()))
				p.led(t)
			},
		}
	}
	h.Lacks = map[sourcetest.Part]string{sourcetest.PartUndecodable: "a real Kafka decompresses what it stores, and refuses what it cannot"}
	sourcetest.Run(t, h)
}

// The fake stores whatever it is sent: so a batch that cannot be decompressed comes.
func TestASourceConformsOnAFakeKafka(t *testing.T) {
	t.Parallel()
	fake, err := kfake.NewCluster(kfake.NumBrokers(3), kfake.BrokerConfigs(map[string]string{"group.min.session.timeout.ms": "500"}))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(fake.Close)
	h := sourceHarness(fake.ListenAddrs)
	open := h.Open
	h.Open = func(t *testing.T) sourcetest.Fixture {
		t.Helper()
		f := open(t)
		f.SendUndecodable = func(t *testing.T) {
			t.Helper()
			f.Send(t, source.Message{Key: undecodable})
		}
		return f
	}
	h.On = "franz-go's fake Kafka"
	h.Lacks = map[sourcetest.Part]string{sourcetest.PartOutage: "the fake forgets what it holds when it ends"}
	sourcetest.Run(t, h)
}

// undecodable is the key of a message that is sent so that nobody can decompress it.
const undecodable = "undecodable"

func sourceHarness(brokers func() []string) sourcetest.Harness {
	return sourcetest.Harness{
		Open:     func(t *testing.T) sourcetest.Fixture { return newPlace(t, brokers()).create(t).sourceFixture(t) },
		Features: source.Features{Order: source.OrderPartition, Places: true, Cumulative: true, Binding: "kafka"},
		Nulls:    true, Patience: time.Minute, Quiet: 500 * time.Millisecond,
	}
}

func (p place) sourceFixture(t *testing.T) sourcetest.Fixture {
	t.Helper()
	client, bad := p.producer(t), p.producer(t, kgo.WithCompressor(garbage{}))
	return sourcetest.Fixture{
		Join: func(t *testing.T) source.Source { return openSource(t, p.sourceOptions()) },
		Send: func(t *testing.T, msgs ...source.Message) {
			t.Helper()
			records := make([]*kgo.Record, len(msgs))
			for i, m := range msgs {
				records[i] = &kgo.Record{Key: []byte(m.Key), Value: m.Payload}
				if m.Null {
					records[i].Value = nil
				} else if m.Payload == nil {
					records[i].Value = []byte{}
				}
				for _, h := range m.Headers {
					records[i].Headers = append(records[i].Headers, kgo.RecordHeader{Key: h.Name, Value: []byte(h.Value)})
				}
			}
			if records[0].Key != nil && string(records[0].Key) == undecodable {
				must(t, bad.ProduceSync(publishtest.Timeout(t, 30*time.Second), records...).FirstErr())
				return
			}
			if err := client.ProduceSync(publishtest.Timeout(t, 30*time.Second), records...).FirstErr(); err != nil {
				t.Error(err)
			}
		},
		Kill: func(t *testing.T, s source.Source) {
			t.Helper()
			killed, ok := s.(*kafkabroker.Source)
			if !ok {
				t.Fatalf("%T is not a source of this package", s)
			}
			p.kill(t, killed)
		},
		Rebalance: func(t *testing.T) {
			t.Helper()
			for _, id := range p.members(t) {
				p.evict(t, id)
			}
		},
	}
}
