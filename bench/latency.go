package main

import (
	"context"
	"encoding/binary"
	"math"
	"slices"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/postbag/postbag"
	"github.com/postbag/postbag/broker"
	"github.com/postbag/postbag/pgstore"
	"github.com/postbag/postbag/relay"
)

// clockwatch is a destination that notes how long after its commit a message
// arrived: the commit's time is kept by its number.
type clockwatch struct {
	mu        sync.Mutex
	committed map[uint64]time.Time
	arrived   map[uint64]time.Time
}

func (c *clockwatch) Publish(_ context.Context, msgs []broker.Delivery, results []broker.Result) {
	now := time.Now()
	c.mu.Lock()
	defer c.mu.Unlock()
	for i := range msgs {
		c.arrived[binary.BigEndian.Uint64(msgs[i].Payload)] = now
		results[i].Outcome = broker.Accepted
	}
}

func (c *clockwatch) Features() broker.Features   { return broker.Features{Ordered: true} }
func (c *clockwatch) Close(context.Context) error { return nil }

// latency commits rate messages a second for a while, and measures the time from
// the commit's return to the destination.
func latency(rate int, inProcess bool, o pgstore.Options) func(context.Context, *lab) (sample, error) {
	return func(ctx context.Context, l *lab) (sample, error) {
		var publisher pgstore.Options
		if o.Listen {
			publisher.Notify = 200 * time.Microsecond
		}
		box, s, err := l.boxWith(ctx, publisher)
		if err != nil {
			return sample{}, err
		}
		defer func() { _ = s.Close() }()
		reader := s
		if !inProcess {
			other, err := l.relayStoreWith(ctx, o)
			if err != nil {
				return sample{}, err
			}
			defer other.close()
			reader = other.store
		}
		watch := &clockwatch{committed: map[uint64]time.Time{}, arrived: map[uint64]time.Time{}}
		r, err := relay.New(reader, relay.Options{Subscriptions: []relay.Subscription{{To: watch, Box: box}}, Logger: quiet})
		if err != nil {
			return sample{}, err
		}
		ctx, cancel := context.WithCancel(ctx)
		defer cancel()
		ended := make(chan error, 1)
		go func() { ended <- r.Run(ctx) }()
		n := rate * 5
		w := l.start()
		if err := l.tick(ctx, s, box, rate, n, watch); err != nil {
			return sample{}, err
		}
		v := w.stop(n)
		time.Sleep(1500 * time.Millisecond)
		cancel()
		if err := <-ended; err != nil {
			return sample{}, err
		}
		watch.summarise(&v)
		return v, l.drop(context.WithoutCancel(ctx), box)
	}
}

func (l *lab) tick(ctx context.Context, s *pgstore.Store, box string, rate, n int, watch *clockwatch) error {
	p, err := postbag.NewPublisher(s, postbag.PublisherOptions{Box: box})
	if err != nil {
		return err
	}
	begun := time.Now()
	for i := range n {
		time.Sleep(time.Until(begun.Add(time.Duration(i) * time.Second / time.Duration(rate))))
		m := newMessage(i % 100)
		m.Payload = binary.BigEndian.AppendUint64(nil, uint64(i))
		err := p.InTx(ctx, func(ctx context.Context, tx pgx.Tx) error { return p.Publish(ctx, tx, m) })
		if err != nil {
			return err
		}
		watch.mu.Lock()
		watch.committed[uint64(i)] = time.Now()
		watch.mu.Unlock()
	}
	return nil
}

// summarise adds the quantiles, in milliseconds, and how many never arrived.
func (c *clockwatch) summarise(v *sample) {
	c.mu.Lock()
	defer c.mu.Unlock()
	var all []float64
	for i, at := range c.committed {
		if arrived, ok := c.arrived[i]; ok {
			all = append(all, max(0, float64(arrived.Sub(at).Microseconds())/1000))
		}
	}
	slices.Sort(all)
	q := func(p float64) float64 {
		if len(all) == 0 {
			return math.NaN()
		}
		return all[min(int(p*float64(len(all))), len(all)-1)]
	}
	v.Extra["p50 ms"], v.Extra["p99 ms"] = q(0.5), q(0.99)
	v.Extra["missing"] = float64(len(c.committed) - len(all))
}
