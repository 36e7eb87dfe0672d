package kafkabroker_test

import (
	"context"
	"fmt"
	"sync"
	"testing"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/postbag/postbag/broker"
	"github.com/postbag/postbag/broker/kafkabroker"
	"github.com/postbag/postbag/internal/publishtest"
	"github.com/postbag/postbag/internal/testserver"
	"github.com/postbag/postbag/internal/testserver/servertest"
)

// BenchmarkAgainstRaw publishes the same messages (1 KiB, a key, two headers,
// acks=all, lz4) through the destination and through the client library's own
// pipelined producer with its own options, turn by turn in one run, to a server in
// a process of its own. It reports messages a second of each, and the
// destination's ratio to the producer:
//
//	go test -run xxx -bench AgainstRaw -benchtime 5x ./kafkabroker
//
// "callers" are the calls that a relay makes: four at a time, of 500.
func BenchmarkAgainstRaw(b *testing.B) {
	const round = 100_000
	k := servertest.Kafka(b, testserver.KafkaOptions{HeapMB: 768})
	for _, partitions := range []int32{1, 8} {
		b.Run(fmt.Sprintf("partitions=%d", partitions), func(b *testing.B) {
			p := newPlace(b, k.Brokers())
			p.partitions = partitions
			p.create(b, "retention.bytes=200000000", "segment.bytes=100000000")
			d := publishtest.Closing(b, dial(b, p.brokers, kafkabroker.Options{}))
			msgs := load(p.topic, round)
			publishtest.Race(b, func() []broker.Delivery { return msgs },
				publishtest.Publisher{Name: "raw", Run: raw(b, p)},
				publishtest.Publisher{Name: "four-callers", Run: func(msgs []broker.Delivery) error { return publishtest.InCalls(d, msgs, 500, 4) }},
				publishtest.Through("one-caller", d, 1000))
		})
	}
}

// BenchmarkPublish is for profiles: four callers, calls of 500.
func BenchmarkPublish(b *testing.B) {
	k := servertest.Kafka(b, testserver.KafkaOptions{HeapMB: 768})
	p := newPlace(b, k.Brokers())
	p.partitions = 8
	p.create(b, "retention.bytes=200000000", "segment.bytes=100000000")
	d := publishtest.Closing(b, dial(b, p.brokers, kafkabroker.Options{}))
	const round = 100_000
	msgs := load(p.topic, round)
	b.ReportAllocs()
	for b.Loop() {
		if err := publishtest.InCalls(d, msgs, 500, 4); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(b.N)*round/b.Elapsed().Seconds(), "msg/s")
}

// load is JSON of some kind: not all alike, not noise.
func load(topic string, n int) []broker.Delivery {
	msgs := publishtest.Messages(topic, n)
	for i := range msgs {
		m := &msgs[i]
		m.Key, m.Type = fmt.Sprintf("customer-%d", i%5000), "order.created"
		m.Headers = map[string]string{"traceparent": "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01", "tenant": "acme"}
		for line := 0; len(m.Payload) < 1024; line++ {
			m.Payload = fmt.Appendf(m.Payload, `{"line":%d,"article":"%x","count":%d},`, line, uint32(i*2654435761+line*40503), i%7)
		}
		m.Payload = m.Payload[:1024]
	}
	return msgs
}

// raw is the client library's producer, fed as fast as it takes records.
func raw(b *testing.B, p place) func([]broker.Delivery) error {
	b.Helper()
	client, err := kgo.NewClient(
		kgo.SeedBrokers(p.brokers...), kgo.RequiredAcks(kgo.AllISRAcks()), kgo.ProducerBatchCompression(kgo.Lz4Compression()),
		kgo.RecordPartitioner(kgo.StickyKeyPartitioner(nil)), kgo.ProducerLinger(0), kgo.MaxBufferedRecords(10_000), kgo.DisableClientMetrics(),
	)
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(client.Close)
	return func(msgs []broker.Delivery) error {
		var mu sync.Mutex
		var failed error
		for i := range msgs {
			m := &msgs[i]
			client.Produce(context.Background(), wire(m), func(_ *kgo.Record, err error) {
				if err != nil {
					mu.Lock()
					failed = err
					mu.Unlock()
				}
			})
		}
		if err := client.Flush(context.Background()); err != nil {
			return err
		}
		mu.Lock()
		defer mu.Unlock()
		return failed
	}
}

// wire is a message as the destination sends it.
func wire(m *broker.Delivery) *kgo.Record {
	r := &kgo.Record{Topic: m.Topic, Key: []byte(m.Key), Value: m.Payload, Timestamp: m.At, Headers: []kgo.RecordHeader{
		{Key: broker.HeaderID, Value: []byte(m.ID.String())},
		{Key: broker.HeaderKey, Value: []byte(m.Key)},
		{Key: broker.HeaderType, Value: []byte(m.Type)},
		{Key: broker.HeaderTime, Value: []byte(broker.FormatTime(m.At))},
	}}
	for name, value := range m.Headers {
		r.Headers = append(r.Headers, kgo.RecordHeader{Key: name, Value: []byte(value)})
	}
	return r
}
