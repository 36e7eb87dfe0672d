package main

import (
	"context"
	"fmt"
	"runtime"

	"github.com/postbag/postbag/broker"
	"github.com/postbag/postbag/broker/membroker"
	"github.com/postbag/postbag/relay"
)

const (
	drained  = 200_000
	pageSize = 1000
)

// drainRaw drains a fresh box with the reference, into nothing.
func drainRaw(ctx context.Context, l *lab) (sample, error) {
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
func drainTo(n, keys, relays int, to func(context.Context, *lab) (broker.Destination, error)) func(context.Context, *lab) (sample, error) {
	return func(ctx context.Context, l *lab) (sample, error) {
		box, s, err := l.box(ctx)
		if err != nil {
			return sample{}, err
		}
		defer func() { _ = s.Close() }()
		if err := l.fill(ctx, s, box, n, keys); err != nil {
			return sample{}, err
		}
		d, err := to(ctx, l)
		if err != nil {
			return sample{}, err
		}
		defer func() { _ = d.Close(context.WithoutCancel(ctx)) }()
		v, err := l.drainWith(ctx, box, n, relays, d)
		if err != nil {
			return sample{}, err
		}
		return v, l.drop(ctx, box)
	}
}

// drainWith runs relays, each with a store and a pool of its own, until n
// messages were accepted.
func (l *lab) drainWith(ctx context.Context, box string, n, relays int, d broker.Destination) (sample, error) {
	counted := newCounter(d, n)
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	ended := make(chan error, relays)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	w := l.start()
	var all []*relay.Relay
	for range relays {
		s, err := l.relayStore(ctx)
		if err != nil {
			return sample{}, err
		}
		defer s.close()
		r, err := relay.New(s.store, relay.Options{
			Subscriptions: []relay.Subscription{{To: counted, Box: box}}, Logger: quiet, NoMaintenance: true,
		})
		if err != nil {
			return sample{}, err
		}
		all = append(all, r)
		go func() { ended <- r.Run(ctx) }()
	}
	select {
	case <-counted.done:
	case err := <-ended:
		return sample{}, fmt.Errorf("a relay ended after %d of %d: %w", counted.count(), n, err)
	case <-ctx.Done():
		return sample{}, ctx.Err()
	}
	v := w.stop(n)
	runtime.ReadMemStats(&after)
	var turns int64
	for _, r := range all {
		turns += r.Stats().Turns
	}
	v.Extra["allocations"] = float64(after.Mallocs-before.Mallocs) / float64(n)
	v.Extra["bytes"] = float64(after.TotalAlloc-before.TotalAlloc) / float64(n)
	v.Extra["turns/1000"] = float64(turns) * 1000 / float64(n)
	cancel()
	for range relays {
		if err := <-ended; err != nil {
			return sample{}, fmt.Errorf("a relay did not end well: %w", err)
		}
	}
	return v, nil
}

func null(context.Context, *lab) (broker.Destination, error) { return membroker.Null(), nil }
