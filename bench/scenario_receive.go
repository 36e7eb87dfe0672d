package main

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/postbag/postbag"
	"github.com/postbag/postbag/broker"
	"github.com/postbag/postbag/broker/kafkabroker"
	"github.com/postbag/postbag/inbox"
)

// received is how many messages a receiver takes into its box.
const received = 100_000

// receiveBatch is the most messages of one transaction, as in a Receiver.
const receiveBatch = 500

// ownInbox is the table that people write by hand in place of an inbox box.
const ownInbox = `
drop table if exists bench_inbox;
create table bench_inbox (seq bigint generated always as identity primary key, id uuid not null unique, topic text not null, key text,
  headers json, payload bytea not null, at timestamptz not null default now(), processed boolean not null default false)`

const (
	receiveRows = `insert into bench_inbox (id, topic, key, headers, payload)
		select id, $2, key, '{"trace":"0af7651916cd43dd8448eb211c80319c","tenant":"7"}', payload
		from unnest($1::uuid[], $3::text[], $4::bytea[]) m(id, key, payload) on conflict (id) do nothing`
	receiveRow = `insert into bench_inbox (id, topic, key, headers, payload)
		values ($1, $2, $3, '{"trace":"0af7651916cd43dd8448eb211c80319c","tenant":"7"}', $4) on conflict (id) do nothing`
)

// fillTopic gives the next run a topic with n messages.
func (l *testbed) fillTopic(ctx context.Context, n int) ([]string, error) {
	brokers, err := l.freshTopic(ctx, benchTopic)
	if err != nil {
		return nil, err
	}
	c, err := kgo.NewClient(rawProducer(brokers)...)
	if err != nil {
		return nil, err
	}
	defer c.Close()
	for done := 0; done < n; {
		records := make([]*kgo.Record, 0, pageSize)
		for ; done < n && len(records) < pageSize; done++ {
			records = append(records, &kgo.Record{
				Topic: benchTopic, Key: fmt.Appendf(nil, "%d", done%10_000), Value: payload,
				Headers: []kgo.RecordHeader{
					{Key: "trace", Value: []byte("0af7651916cd43dd8448eb211c80319c")},
					{Key: "tenant", Value: []byte("7")},
					{Key: broker.HeaderID, Value: []byte(postbag.NewID().String())},
				},
			})
		}
		if err := produce(ctx, c, records); err != nil {
			return nil, err
		}
	}
	return brokers, nil
}

// group is the name of a consumer group that has read nothing yet.
func (l *testbed) group() string {
	l.groups++
	return fmt.Sprintf("bench%d", l.groups)
}

// receiveByHand is a bare consumer: it stores up to batch messages in one transaction and commits their offsets.
func receiveByHand(n, batch int) func(context.Context, *testbed) (sample, error) {
	return func(ctx context.Context, l *testbed) (sample, error) {
		brokers, err := l.fillTopic(ctx, n)
		if err != nil {
			return sample{}, err
		}
		if _, err := l.pool.Exec(ctx, ownInbox); err != nil {
			return sample{}, err
		}
		c, err := kgo.NewClient(kgo.SeedBrokers(brokers...), kgo.ConsumerGroup(l.group()), kgo.ConsumeTopics(benchTopic), kgo.DisableAutoCommit(),
			kgo.ConsumeResetOffset(kgo.NewOffset().AtStart()))
		if err != nil {
			return sample{}, err
		}
		defer c.Close()
		first := c.PollRecords(ctx, batch) // the group has its partitions, as the receiver's has
		records, err := first.Records(), first.Err()
		if err != nil {
			return sample{}, err
		}
		w := l.start()
		for done := 0; ; {
			if err := l.storeByHand(ctx, records, batch == 1); err != nil {
				return sample{}, err
			}
			if err := c.CommitRecords(ctx, records...); err != nil {
				return sample{}, err
			}
			if done += len(records); done >= n {
				return w.stop(n), nil
			}
			fetches := c.PollRecords(ctx, batch)
			if records, err = fetches.Records(), fetches.Err(); err != nil {
				return sample{}, err
			}
		}
	}
}

// storeByHand stores a batch: in one statement, or the one message that it is.
func (l *testbed) storeByHand(ctx context.Context, records []*kgo.Record, one bool) error {
	ids, keys, payloads := make([]string, len(records)), make([]string, len(records)), make([][]byte, len(records))
	for i, r := range records {
		ids[i], keys[i], payloads[i] = string(r.Headers[2].Value), string(r.Key), r.Value
	}
	return pgx.BeginFunc(ctx, l.pool, func(tx pgx.Tx) (err error) {
		if one {
			_, err = tx.Exec(ctx, receiveRow, ids[0], benchTopic, keys[0], payloads[0])
		} else {
			_, err = tx.Exec(ctx, receiveRows, ids, benchTopic, keys, payloads)
		}
		return err
	})
}

// receive takes n messages into a box.
func receive(n int) func(context.Context, *testbed) (sample, error) {
	return func(ctx context.Context, l *testbed) (_ sample, err error) {
		brokers, err := l.fillTopic(ctx, n)
		if err != nil {
			return sample{}, err
		}
		box, s, err := l.box(ctx)
		if err != nil {
			return sample{}, err
		}
		defer func() { _ = s.Close() }()
		src, err := kafkabroker.OpenSource(ctx, kafkabroker.SourceOptions{Brokers: strings.Join(brokers, ","), Group: l.group(), Topics: []string{benchTopic}})
		if err != nil {
			return sample{}, err
		}
		defer func() { err = errors.Join(err, src.Close(context.WithoutCancel(ctx))) }()
		r, err := inbox.NewReceiver(inbox.ReceiverOptions[pgx.Tx]{Store: s, Source: src, Box: box, Messages: receiveBatch})
		if err != nil {
			return sample{}, err
		}
		ctx, cancel := context.WithTimeout(ctx, 5*time.Minute)
		defer cancel()
		ended := make(chan error, 1)
		go func() { ended <- r.Run(ctx) }()
		until := func(n int64) error {
			for r.Stats().Stored < n {
				select {
				case err := <-ended:
					return fmt.Errorf("the receiver ended early: %w", err)
				case <-time.After(time.Millisecond):
				}
			}
			return nil
		}
		if err := until(1); err != nil {
			return sample{}, err
		}
		before := int(r.Stats().Stored)
		w := l.start()
		if err := until(int64(n)); err != nil {
			return sample{}, err
		}
		v := w.stop(n - before)
		cancel()
		return v, errors.Join(<-ended, l.drop(context.WithoutCancel(ctx), box))
	}
}
