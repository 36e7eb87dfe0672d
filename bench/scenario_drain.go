package main

import (
	"context"
	"errors"
	"fmt"
	"runtime"

	"github.com/postbag/postbag/broker"
	"github.com/postbag/postbag/broker/membroker"
	"github.com/postbag/postbag/relay"
	"github.com/postbag/postbag/store/pgstore"
)

const (
	drained  = 500_000
	pageSize = 1000
)

// drainRaw drains a fresh box with the reference, into nothing.
func drainRaw(ctx context.Context, l *testbed) (sample, error) {
	box, s, err := l.box(ctx)
	if err != nil {
		return sample{}, err
	}
	defer func() { _ = s.Close() }()
	if err := l.fill(ctx, s, box, drained, 10_000); err != nil {
		return sample{}, err
	}
	w := l.start()
	err = l.rawDrain(ctx, box, drained, pageSize, func([]rawRow) error { return nil })
	if err != nil {
		return sample{}, err
	}
	return w.stop(drained), l.drop(ctx, box)
}

// drainTo drains a fresh box with so many keys into a destination, with relays at
// their defaults.
func drainTo(n, keys, relays int, to func(context.Context, *testbed) (broker.Destination, error), policy ...func(*relay.Subscription)) func(context.Context, *testbed) (sample, error) {
	return func(ctx context.Context, l *testbed) (sample, error) {
		box, s, err := l.box(ctx)
		if err != nil {
			return sample{}, err
		}
		defer func() { _ = s.Close() }()
		d, err := to(ctx, l)
		if err != nil {
			return sample{}, err
		}
		defer func() { _ = d.Close(context.WithoutCancel(ctx)) }()
		v, err := l.drainWith(ctx, s, box, n, keys, relays, d, policy...)
		if err != nil {
			return sample{}, err
		}
		return v, l.drop(ctx, box)
	}
}

// drainWith has relays, each with a store and a pool of its own, share the shards
// of an empty box; then n messages are there at once, and the time is taken until
// all were accepted.
func (l *testbed) drainWith(ctx context.Context, s *pgstore.Store, box string, n, keys, relays int, d broker.Destination, policy ...func(*relay.Subscription)) (sample, error) {
	counted := newCounter(n)
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	b, err := l.prepare(ctx, s, box, n, keys)
	if err != nil {
		return sample{}, err
	}
	sub := relay.Subscription{To: d, Use: []broker.Middleware{counted.before}, Box: box, ExactlyOnce: d.Features().Transactions}
	for _, change := range policy {
		change(&sub)
	}
	c, err := l.startRelays(ctx, sub, relays)
	if err != nil {
		return sample{}, errors.Join(err, b.tx.Rollback(ctx))
	}
	defer c.close()
	if err := c.share(ctx); err != nil {
		return sample{}, errors.Join(err, b.tx.Rollback(ctx))
	}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	turns := c.turns()
	w := l.start()
	if err := b.commit(ctx); err != nil {
		return sample{}, err
	}
	c.wake(box)
	select {
	case <-counted.done:
	case err := <-c.ended:
		return sample{}, fmt.Errorf("a relay ended after %d of %d: %w", counted.count(), n, err)
	case <-ctx.Done():
		return sample{}, ctx.Err()
	}
	v := w.stop(n)
	runtime.ReadMemStats(&after)
	v.Extra["allocations"] = float64(after.Mallocs-before.Mallocs) / float64(n)
	v.Extra["bytes"] = float64(after.TotalAlloc-before.TotalAlloc) / float64(n)
	v.Extra["turns/1000"] = float64(c.turns()-turns) * 1000 / float64(n)
	if calls := counted.transactions.Load(); calls > 0 {
		v.Extra["a transaction"] = float64(n) / float64(calls)
	}
	cancel()
	return v, c.wait()
}

func null(context.Context, *testbed) (broker.Destination, error) { return membroker.Null(), nil }

// onReject has a subscription answer a rejection so.
func onReject(r relay.OnReject) func(*relay.Subscription) {
	return func(s *relay.Subscription) { s.OnReject = r }
}

// where has a subscription take a part of the messages.
func where(w relay.Where) func(*relay.Subscription) {
	return func(s *relay.Subscription) { s.Where = w }
}

// rated has a subscription send no more than r says.
func rated(r relay.Rate) func(*relay.Subscription) {
	return func(s *relay.Subscription) { s.Rate = r }
}
