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
	"github.com/postbag/postbag/relay"
	"github.com/postbag/postbag/store/pgstore"
)

// clockwatch is a destination that notes how long after its commit a message
// arrived: the commit's time is kept by its number.
type clockwatch struct {
	mu        sync.Mutex
	committed map[uint64]time.Time
	arrived   map[uint64]time.Time
}

func (c *clockwatch) Publish(_ context.Context, msgs []broker.Delivery, report func(i int, r broker.Result)) {
	now := time.Now()
	c.mu.Lock()
	defer c.mu.Unlock()
	for i := range msgs {
		c.arrived[binary.BigEndian.Uint64(msgs[i].Payload)] = now
		report(i, broker.Result{Outcome: broker.Accepted})
	}
}

func (c *clockwatch) Features() broker.Features   { return broker.Features{Ordered: true} }
func (c *clockwatch) Close(context.Context) error { return nil }

// latency commits rate messages a second for a while, and measures the time from
// the commit's return to the destination.
func latency(rate int, inProcess bool, o pgstore.Options) func(context.Context, *testbed) (sample, error) {
	return latencyFor(5*time.Second, rate, 1, inProcess, o)
}

// latencyFor is latency for so long, with so many messages a transaction.
func latencyFor(d time.Duration, rate, perTx int, inProcess bool, o pgstore.Options) func(context.Context, *testbed) (sample, error) {
	return func(ctx context.Context, l *testbed) (sample, error) {
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
		_, stop, err := runRelay(ctx, reader, relay.Subscription{To: watch, Box: box}, relay.Options{})
		if err != nil {
			return sample{}, err
		}
		defer func() { _ = stop() }()
		const warm = 1 // second in which connections are made and the relay takes its shards
		n := (int(d.Seconds()) + warm) * rate / perTx * perTx
		w := l.start()
		if err := l.tick(ctx, s, box, rate, n, perTx, watch); err != nil {
			return sample{}, err
		}
		v := w.stop(n)
		time.Sleep(1500 * time.Millisecond)
		if err := stop(); err != nil {
			return sample{}, err
		}
		watch.without(warm * rate).summarise(&v)
		return v, l.drop(context.WithoutCancel(ctx), box)
	}
}

func (l *testbed) tick(ctx context.Context, s *pgstore.Store, box string, rate, n, perTx int, watch *clockwatch) error {
	p, err := postbag.NewPublisher(s, postbag.PublisherOptions{Box: box})
	if err != nil {
		return err
	}
	msgs := make([]postbag.Message, perTx)
	begun := time.Now()
	for i := 0; i < n; i += perTx {
		time.Sleep(time.Until(begun.Add(time.Duration(i) * time.Second / time.Duration(rate))))
		for k := range msgs {
			msgs[k] = newMessage((i + k) % 100)
			msgs[k].Payload = binary.BigEndian.AppendUint64(nil, uint64(i+k))
		}
		err := p.InTx(ctx, func(ctx context.Context, tx pgx.Tx) error { return p.Publish(ctx, tx, msgs...) })
		if err != nil {
			return err
		}
		watch.commit(i, perTx)
	}
	return nil
}

// commit notes that n messages from the first on are committed now.
func (c *clockwatch) commit(first, n int) {
	now := time.Now()
	c.mu.Lock()
	defer c.mu.Unlock()
	for i := first; i < first+n; i++ {
		c.committed[uint64(i)] = now
	}
}

// summarise adds the quantiles, in milliseconds, and how many never arrived; and
// how the 99th percentile of the last tenth compares with that of the first.
func (c *clockwatch) summarise(v *sample) {
	c.mu.Lock()
	defer c.mu.Unlock()
	all, first, last := []float64{}, []float64{}, []float64{}
	for i, at := range c.committed {
		arrived, ok := c.arrived[i]
		if !ok {
			continue
		}
		took := max(0, float64(arrived.Sub(at).Microseconds())/1000)
		all = append(all, took)
		switch i * 10 / uint64(len(c.committed)) {
		case 0:
			first = append(first, took)
		case 9:
			last = append(last, took)
		}
	}
	v.Extra["p50 ms"], v.Extra["p99 ms"] = quantile(all, 0.5), quantile(all, 0.99)
	v.Extra["p99 last/first tenth"] = quantile(last, 0.99) / quantile(first, 0.99)
	v.Extra["missing"] = float64(len(c.committed) - len(all))
}

func quantile(all []float64, p float64) float64 {
	if len(all) == 0 {
		return math.NaN()
	}
	slices.Sort(all)
	return all[min(int(p*float64(len(all))), len(all)-1)]
}
