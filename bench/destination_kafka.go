package main

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/postbag/postbag/broker"
	"github.com/postbag/postbag/broker/kafkabroker"
	"github.com/postbag/postbag/internal/testserver"
)

func (l *testbed) startKafka(ctx context.Context) (*testserver.Kafka, error) {
	return once(l, &l.kafka, func() (*testserver.Kafka, error) { return testserver.StartKafka(ctx, testserver.KafkaOptions{}) })
}

// freshTopic gives the next run an empty topic of eight partitions.
func (l *testbed) freshTopic(ctx context.Context, topic string) ([]string, error) {
	s, err := l.startKafka(ctx)
	if err != nil {
		return nil, err
	}
	c, err := kgo.NewClient(kgo.SeedBrokers(s.Brokers()...))
	if err != nil {
		return nil, err
	}
	defer c.Close()
	admin := kadm.NewClient(c)
	_, _ = admin.DeleteTopics(ctx, topic) // it may not be there
	for deadline := time.Now().Add(30 * time.Second); ; <-time.After(50 * time.Millisecond) {
		_, err = admin.CreateTopic(ctx, 8, 1, nil, topic)
		if err == nil || time.Now().After(deadline) {
			return s.Brokers(), err
		}
	}
}

// benchTopic is where messages of the benchmarks go.
const benchTopic = "bench.a"

func kafkaRaw(ctx context.Context, l *testbed) (rawSender, error) {
	brokers, err := l.freshTopic(ctx, benchTopic)
	if err != nil {
		return rawSender{}, err
	}
	c, err := kgo.NewClient(rawProducer(brokers)...)
	if err != nil {
		return rawSender{}, err
	}
	return rawSender{send: func(rows []rawRow) error { return produce(ctx, c, rawRecords(rows)) }, close: c.Close}, nil
}

func rawProducer(brokers []string) []kgo.Opt {
	return []kgo.Opt{
		kgo.SeedBrokers(brokers...), kgo.RequiredAcks(kgo.AllISRAcks()), kgo.ProducerLinger(0),
		kgo.ProducerBatchCompression(kgo.Lz4Compression()), kgo.MaxBufferedRecords(2 * pageSize),
	}
}

func rawRecords(rows []rawRow) []*kgo.Record {
	records := make([]*kgo.Record, len(rows), len(rows)+1)
	for i := range rows {
		records[i] = &kgo.Record{
			Topic: rows[i].topic, Key: fmt.Appendf(nil, "%d", rows[i].seq%10_000), Value: rows[i].payload,
			Headers: []kgo.RecordHeader{
				{Key: "trace", Value: []byte("0af7651916cd43dd8448eb211c80319c")},
				{Key: "tenant", Value: []byte("7")},
				{Key: "id", Value: fmt.Appendf(nil, "%036d", rows[i].seq)},
			},
		}
	}
	return records
}

// produce sends records and waits for all of them.
func produce(ctx context.Context, c *kgo.Client, records []*kgo.Record) error {
	var failed error
	for _, r := range records {
		c.Produce(ctx, r, func(_ *kgo.Record, err error) {
			if err != nil {
				failed = err // promises run one after another, and Flush waits for them
			}
		})
	}
	return errors.Join(c.Flush(ctx), failed)
}

func kafkaDestination(ctx context.Context, l *testbed) (broker.Destination, error) {
	brokers, err := l.freshTopic(ctx, benchTopic)
	if err != nil {
		return nil, err
	}
	return kafkabroker.Dial(ctx, strings.Join(brokers, ","), kafkabroker.Options{})
}
