package main

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/postbag/postbag/broker"
	"github.com/postbag/postbag/broker/kafkabroker"
	"github.com/postbag/postbag/relay"
	"github.com/postbag/postbag/store/pgstore"
)

func kafkaOnce(ctx context.Context, l *testbed) (broker.Destination, error) {
	brokers, err := l.freshTopic(ctx, benchTopic)
	if err != nil {
		return nil, err
	}
	d, err := kafkabroker.Dial(ctx, strings.Join(brokers, ","), kafkabroker.Options{Transactions: &kafkabroker.Transactions{}})
	if err != nil {
		return nil, err
	}
	return d, nil
}

// kafkaRawOnce sends each page in a transaction, with a position in a topic of its own.
func kafkaRawOnce(ctx context.Context, l *testbed) (rawSender, error) {
	brokers, err := l.freshTopic(ctx, benchTopic)
	if err != nil {
		return rawSender{}, err
	}
	const positions = "bench.positions"
	if _, err := l.freshTopic(ctx, positions); err != nil {
		return rawSender{}, err
	}
	c, err := kgo.NewClient(append(rawProducer(brokers), kgo.TransactionalID(benchTopic))...)
	if err != nil {
		return rawSender{}, err
	}
	send := func(rows []rawRow) error {
		if err := c.BeginTransaction(); err != nil {
			return err
		}
		position := &kgo.Record{
			Topic: positions, Key: []byte(benchTopic), Value: binary.BigEndian.AppendUint64(nil, uint64(rows[len(rows)-1].seq)),
		}
		if err := produce(ctx, c, append(rawRecords(rows), position)); err != nil {
			return err
		}
		return c.EndTransaction(ctx, kgo.TryCommit)
	}
	return rawSender{send: send, close: c.Close}, nil
}

// latencyToKafka commits rate messages a second for a while, and measures the time from the commit's return to a consumer of
// committed messages.
func latencyToKafka(rate int, to func(context.Context, *testbed) (broker.Destination, error)) func(context.Context, *testbed) (sample, error) {
	return func(ctx context.Context, l *testbed) (_ sample, err error) {
		box, s, err := l.box(ctx)
		if err != nil {
			return sample{}, err
		}
		defer func() { _ = s.Close() }()
		d, err := to(ctx, l)
		if err != nil {
			return sample{}, err
		}
		defer func() { err = errors.Join(err, d.Close(context.WithoutCancel(ctx))) }()
		reader, err := l.relayStoreWith(ctx, pgstore.Options{})
		if err != nil {
			return sample{}, err
		}
		defer reader.close()
		sub := relay.Subscription{To: d, Box: box, ExactlyOnce: d.Features().Transactions}
		ctx, cancel := context.WithTimeout(ctx, time.Minute)
		defer cancel()
		_, stop, err := runRelay(ctx, reader.store, sub, relay.Options{})
		if err != nil {
			return sample{}, err
		}
		defer func() { _ = stop() }()
		watch := &clockwatch{committed: map[uint64]time.Time{}, arrived: map[uint64]time.Time{}}
		n := 6 * rate
		consumed := make(chan error, 1)
		go func() { consumed <- watch.consume(ctx, l.kafka.Brokers(), n) }()
		w := l.start()
		if err := l.tick(ctx, s, box, rate, n, 1, watch); err != nil {
			return sample{}, err
		}
		v := w.stop(n)
		if err := errors.Join(<-consumed, stop()); err != nil {
			return sample{}, err
		}
		watch.without(rate).summarise(&v)
		return v, l.drop(context.WithoutCancel(ctx), box)
	}
}

// without leaves the first n messages out: those of the second in which connections are made and topics known.
func (c *clockwatch) without(n int) *clockwatch {
	rest := &clockwatch{committed: map[uint64]time.Time{}, arrived: map[uint64]time.Time{}}
	for i, at := range c.committed {
		if i >= uint64(n) {
			rest.committed[i-uint64(n)], rest.arrived[i-uint64(n)] = at, c.arrived[i]
		}
	}
	return rest
}

// consume notes when n committed messages have come.
func (c *clockwatch) consume(ctx context.Context, brokers []string, n int) error {
	k, err := kgo.NewClient(kgo.SeedBrokers(brokers...), kgo.ConsumeTopics(benchTopic), kgo.FetchIsolationLevel(kgo.ReadCommitted()),
		kgo.ConsumeResetOffset(kgo.NewOffset().AtStart()))
	if err != nil {
		return err
	}
	defer k.Close()
	for got := 0; got < n; {
		fetched := k.PollFetches(ctx)
		if ctx.Err() != nil {
			return fmt.Errorf("a consumer saw %d of %d: %w", got, n, ctx.Err())
		}
		now := time.Now()
		c.mu.Lock()
		fetched.EachRecord(func(r *kgo.Record) {
			c.arrived[binary.BigEndian.Uint64(r.Value)] = now
			got++
		})
		c.mu.Unlock()
	}
	return nil
}
