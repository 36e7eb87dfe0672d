package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/postbag/postbag/broker"
	"github.com/postbag/postbag/broker/natsbroker"
)

// cannotStore is what the server calls it that the store of a stream cannot be made.
const cannotStore jetstream.ErrorCode = 10049

// freshStream gives the next run an empty stream. The server removes the folder of the deleted one in the background, and
// what is left of it is in the way: freshStream asks again while the server cannot make the store.
func (l *testbed) freshStream(ctx context.Context) error {
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
	again := time.NewTicker(20 * time.Millisecond)
	defer again.Stop()
	for {
		_, err = js.CreateStream(ctx, jetstream.StreamConfig{Name: "BENCH", Subjects: []string{"bench.>"}, Storage: jetstream.FileStorage})
		refused := (*jetstream.APIError)(nil)
		if !errors.As(err, &refused) || refused.ErrorCode != cannotStore {
			return err
		}
		select {
		case <-ctx.Done():
			return err
		case <-again.C:
		}
	}
}

func natsDestination(ctx context.Context, l *testbed) (broker.Destination, error) {
	if err := l.freshStream(ctx); err != nil {
		return nil, err
	}
	return natsbroker.Dial(ctx, l.nats.URL(), natsbroker.Options{})
}

func natsRaw(ctx context.Context, l *testbed) (rawSender, error) {
	if err := l.freshStream(ctx); err != nil {
		return rawSender{}, err
	}
	nc, err := nats.Connect(l.nats.URL())
	if err != nil {
		return rawSender{}, err
	}
	js, err := jetstream.New(nc, jetstream.WithPublishAsyncMaxPending(2*pageSize))
	return rawSender{send: func(rows []rawRow) error { return publishRaw(js, rows) }, close: nc.Close}, err
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
func oneAtATime(n int) func(context.Context, *testbed) (sample, error) {
	return func(ctx context.Context, l *testbed) (sample, error) {
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
