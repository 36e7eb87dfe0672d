package main

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/postbag/postbag"
	"github.com/postbag/postbag/broker"
	"github.com/postbag/postbag/inbox"
	"github.com/postbag/postbag/relay"
	"github.com/postbag/postbag/source"
	"github.com/postbag/postbag/source/memsource"
)

// consumed is how many messages a consumer applies, each in a transaction of its own.
const consumed = 20_000

// applyByHand has clients apply n messages over so many keys with the statements that people write by hand. Each client has keys of
// its own if there are as many.
func applyByHand(n, clients, keys int) func(context.Context, *testbed) (sample, error) {
	return func(ctx context.Context, l *testbed) (sample, error) {
		if _, err := l.pool.Exec(ctx, ownTable); err != nil {
			return sample{}, err
		}
		ctx, cancel := context.WithCancelCause(ctx)
		defer cancel(nil)
		var wg sync.WaitGroup
		var applied atomic.Int64
		w := l.start()
		for client := range clients {
			wg.Go(func() {
				for i := client; i < n; i += clients {
					if err := l.applyOne(ctx, i%min(keys, accounts)); err != nil {
						cancel(err)
						return
					}
					applied.Add(1)
				}
			})
		}
		wg.Wait()
		return w.stop(int(applied.Load())), context.Cause(ctx)
	}
}

// applyOne applies a message: BEGIN, the mark, the change, COMMIT.
func (l *testbed) applyOne(ctx context.Context, account int) error {
	return pgx.BeginFunc(ctx, l.pool, func(tx pgx.Tx) error {
		id := postbag.NewID()
		tag, err := tx.Exec(ctx, ownInsert, "billing", id[:])
		if err != nil || tag.RowsAffected() == 0 {
			return err
		}
		_, err = tx.Exec(ctx, ownUpdate, account)
		return err
	})
}

// consume has a consumer apply n messages over so many keys, from a source in memory.
func consume(n, clients, keys int) func(context.Context, *testbed) (sample, error) {
	return func(ctx context.Context, l *testbed) (sample, error) {
		s, err := l.openEffects(ctx)
		if err != nil {
			return sample{}, err
		}
		if _, err := l.pool.Exec(ctx, ownTable+`; truncate postbag._once`); err != nil {
			return sample{}, err
		}
		from := memsource.New(memsource.Options{Order: source.OrderStream, MaxMessages: n})
		for i := range n {
			if err := from.Publish(sourceMessage(i % keys)); err != nil {
				return sample{}, err
			}
		}
		c, err := inbox.NewConsumer(inbox.ConsumerOptions[pgx.Tx]{
			Store: s, Source: from.Join("billing"), Handle: changeAccount, Consumer: "billing", Concurrency: clients, Logger: quiet,
		})
		if err != nil {
			return sample{}, err
		}
		ctx, cancel := context.WithTimeout(ctx, 5*time.Minute)
		defer cancel()
		ended := make(chan error, 1)
		w := l.start()
		go func() { ended <- c.Run(ctx) }()
		for c.Stats().Applied < int64(n) {
			select {
			case err := <-ended:
				return sample{}, fmt.Errorf("the consumer ended early, after %d: %w", c.Stats().Applied, errors.Join(err, ctx.Err()))
			case <-time.After(time.Millisecond):
			}
		}
		v := w.stop(n)
		cancel()
		return v, <-ended
	}
}

// sourceMessage is newMessage as a broker delivers it.
func sourceMessage(key int) source.Message {
	m := newMessage(key)
	out := source.Message{Topic: m.Topic, Key: m.Key, MessageID: postbag.NewID().String(), Payload: m.Payload}
	for name, value := range m.Headers {
		out.Headers = append(out.Headers, source.Header{Name: name, Value: value})
	}
	return out
}

// handleEach applies each message of a box in a transaction with its mark. countAfter says when an attempt is counted.
func handleEach(countAfter bool) func(ctx context.Context, l *testbed) (broker.Destination, error) {
	return func(ctx context.Context, l *testbed) (broker.Destination, error) {
		if _, err := l.pool.Exec(ctx, ownTable+`; truncate postbag._once`); err != nil {
			return nil, err
		}
		s, err := l.openEffects(ctx)
		if err != nil {
			return nil, err
		}
		return inbox.NewDestination(inbox.DestinationOptions[pgx.Tx]{Store: s, Consumer: "billing", Handle: changeAccount, CountAfter: countAfter})
	}
}

// effectEach is handleEach where a handler that ends its process is called without an end.
var effectEach = handleEach(true)

// eightCalls has so many calls of a destination at work at once.
func eightCalls(s *relay.Subscription) { s.Concurrency = 8 }
