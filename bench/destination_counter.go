package main

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/postbag/postbag/broker"
	"github.com/postbag/postbag/store/pgstore"
)

// counter counts what a destination accepts, and says when it is enough.
type counter struct {
	left atomic.Int64
	n    int64
	// transactions are those that were committed.
	transactions atomic.Int64
	once         sync.Once
	done         chan struct{}
}

func newCounter(n int) *counter {
	c := &counter{n: int64(n), done: make(chan struct{})}
	c.left.Store(int64(n))
	return c
}

// before counts what next accepts.
func (c *counter) before(next broker.Destination) broker.Destination { return counted{next, c} }

type counted struct {
	broker.Destination

	counter *counter
}

func (c counted) Publish(ctx context.Context, msgs []broker.Delivery, report func(i int, r broker.Result)) {
	var accepted atomic.Int64
	c.Destination.Publish(ctx, msgs, func(i int, r broker.Result) {
		if r.Outcome == broker.Accepted {
			accepted.Add(1)
		}
		report(i, r)
	})
	n := accepted.Load()
	if n > 0 && broker.InTransaction(ctx) {
		c.counter.transactions.Add(1)
	}
	c.counter.accept(n)
}

func (c *counter) accept(n int64) {
	if c.left.Add(-n) <= 0 {
		c.once.Do(func() { close(c.done) })
	}
}

func (c *counter) count() int64 { return c.n - c.left.Load() }

// relayStore is a relay's store with a pool of its own, as a process would have.
type relayStore struct {
	store *pgstore.Store
	pool  *pgxpool.Pool
}

func (l *testbed) relayStore(ctx context.Context) (*relayStore, error) {
	return l.relayStoreWith(ctx, pgstore.Options{})
}

// calmDatabase has no tables but those of an empty box, so that nothing but a
// relay's own statements happens there.
const calmDatabase = "calm"

// calmBox makes a box in that database and returns its name and a relay's store.
func (l *testbed) calmBox(ctx context.Context) (string, *relayStore, error) {
	_ = l.pg.CreateDatabase(ctx, calmDatabase) // exists from the second time on
	l.boxes++
	name := fmt.Sprintf("bench%d", l.boxes)
	s, err := openRelayStore(ctx, l.pg.DSN(calmDatabase), pgstore.Options{Create: true, Boxes: []string{name}})
	return name, s, err
}

func (l *testbed) relayStoreWith(ctx context.Context, o pgstore.Options) (*relayStore, error) {
	return openRelayStore(ctx, l.pg.DSN("postgres"), o)
}

func openRelayStore(ctx context.Context, dsn string, o pgstore.Options) (*relayStore, error) {
	c, err := pgxpool.ParseConfig(dsn)
	if err != nil {
		return nil, err
	}
	c.MaxConns = 4
	pool, err := pgxpool.NewWithConfig(ctx, c)
	if err != nil {
		return nil, err
	}
	s, err := pgstore.Open(ctx, pool, o)
	if err != nil {
		pool.Close()
		return nil, err
	}
	return &relayStore{store: s, pool: pool}, nil
}

func (r *relayStore) close() {
	_ = r.store.Close()
	r.pool.Close()
}
