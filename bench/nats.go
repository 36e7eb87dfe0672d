package main

import (
	"context"
	"fmt"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/postbag/postbag/broker"
	"github.com/postbag/postbag/natsbroker"
)

// freshStream gives the next run an empty stream.
func (l *lab) freshStream(ctx context.Context) error {
	nc, err := nats.Connect(l.nats.URL())
	if err != nil {
		return err
	}
	defer nc.Close()
	js, err := jetstream.New(nc)
	if err != nil {
		return err
	}
	_ = js.DeleteStream(ctx, "BENCH")
	_, err = js.CreateStream(ctx, jetstream.StreamConfig{Name: "BENCH", Subjects: []string{"bench.>"}, Storage: jetstream.FileStorage})
	return err
}

func natsDestination(ctx context.Context, l *lab) (broker.Destination, error) {
	if err := l.freshStream(ctx); err != nil {
		return nil, err
	}
	return natsbroker.Dial(ctx, l.nats.URL(), natsbroker.Options{})
}

// copyRaw is the reference: rows read as in rawDrain, published asynchronously, a
// page acknowledged before the next is settled.
func copyRaw(n int) func(context.Context, *lab) (sample, error) {
	return func(ctx context.Context, l *lab) (sample, error) {
		box, s, err := l.box(ctx)
		if err != nil {
			return sample{}, err
		}
		defer func() { _ = s.Close() }()
		if err := l.fill(ctx, s, box, n, 10_000); err != nil {
			return sample{}, err
		}
		if err := l.freshStream(ctx); err != nil {
			return sample{}, err
		}
		nc, err := nats.Connect(l.nats.URL())
		if err != nil {
			return sample{}, err
		}
		defer nc.Close()
		js, err := jetstream.New(nc, jetstream.WithPublishAsyncMaxPending(2*pageSize))
		if err != nil {
			return sample{}, err
		}
		w := l.start()
		if err := l.rawDrain(ctx, box, n, pageSize, func(rows []rawRow) error { return publishRaw(js, rows) }); err != nil {
			return sample{}, err
		}
		return w.stop(n), l.drop(ctx, box)
	}
}

func publishRaw(js jetstream.JetStream, rows []rawRow) error {
	for i := range rows {
		m := &nats.Msg{Subject: rows[i].topic, Data: rows[i].payload, Header: nats.Header{
			"trace": {"0af7651916cd43dd8448eb211c80319c"}, "tenant": {"7"}, "Nats-Msg-Id": {fmt.Sprintf("%036d", rows[i].seq)},
		}}
		if _, err := js.PublishMsgAsync(m); err != nil {
			return err
		}
	}
	select {
	case <-js.PublishAsyncComplete():
		return nil
	case <-time.After(30 * time.Second):
		return fmt.Errorf("%d answers are missing", js.PublishAsyncPending())
	}
}

// oneAtATime is the destination's own limit for one key: publish, wait, next.
func oneAtATime(n int) func(context.Context, *lab) (sample, error) {
	return func(ctx context.Context, l *lab) (sample, error) {
		if err := l.freshStream(ctx); err != nil {
			return sample{}, err
		}
		nc, err := nats.Connect(l.nats.URL())
		if err != nil {
			return sample{}, err
		}
		defer nc.Close()
		js, err := jetstream.New(nc)
		if err != nil {
			return sample{}, err
		}
		w := l.start()
		for range n {
			if _, err := js.Publish(ctx, "bench.a", payload); err != nil {
				return sample{}, err
			}
		}
		return w.stop(n), nil
	}
}
