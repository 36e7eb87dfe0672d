package main

import (
	"context"
	"encoding/binary"
	"fmt"
	"time"

	"github.com/postbag/postbag/relay"
	"github.com/postbag/postbag/store"
	"github.com/postbag/postbag/store/pgstore"
)

// sparsePause is the time between two messages of sparse traffic.
const sparsePause = 4500 * time.Millisecond

// sparse commits a message every 4.5 s by a plain INSERT of another connection, of
// which no store hears, and measures the time from the commit's return to the
// destination, and what the relay asks its store meanwhile. insert writes one, and
// tells of it what is to be told.
func sparse(ctx context.Context, s store.Store, box string, insert func(ctx context.Context, r *relay.Relay, payload []byte) error) (sample, error) {
	watch := &clockwatch{committed: map[uint64]time.Time{}, arrived: map[uint64]time.Time{}}
	r, stop, err := runRelay(ctx, s, relay.Subscription{To: watch, Box: box}, relay.Options{})
	if err != nil {
		return sample{}, err
	}
	defer func() { _ = stop() }()
	time.Sleep(12 * time.Second) // until it has calmed down
	const n = 20
	turns, begun := r.Stats().Turns, time.Now()
	for i := range n {
		if err := insert(ctx, r, binary.BigEndian.AppendUint64(nil, uint64(i))); err != nil {
			return sample{}, err
		}
		watch.commit(i, 1)
		time.Sleep(time.Until(begun.Add(time.Duration(i+1) * sparsePause)))
	}
	v := sample{Extra: map[string]float64{"turns/s": float64(r.Stats().Turns-turns) / time.Since(begun).Seconds()}}
	if err := stop(); err != nil {
		return sample{}, err
	}
	watch.summarise(&v)
	v.Value = v.Extra["p99 ms"]
	return v, nil
}

// sparsePostgres writes to PostgreSQL, and has after run in the writer's transaction.
func sparsePostgres(after string, o pgstore.Options) func(context.Context, *testbed) (sample, error) {
	return func(ctx context.Context, l *testbed) (sample, error) {
		box, s, err := l.boxWith(ctx, pgstore.Options{})
		if err != nil {
			return sample{}, err
		}
		defer func() { _ = s.Close() }()
		own, err := l.relayStoreWith(ctx, o)
		if err != nil {
			return sample{}, err
		}
		defer own.close()
		return sparse(ctx, own.store, box, func(ctx context.Context, _ *relay.Relay, payload []byte) error {
			// One simple query is one transaction, and one way to the server.
			_, err := l.pool.Exec(ctx, fmt.Sprintf(`INSERT INTO postbag.%s (topic, payload) VALUES ('t', '\x%x');%s`, box, payload, after))
			return err
		})
	}
}

// sparseSQL writes to another database, by a session that begins with some statement.
// With wake the writer calls Relay.Wake after its commit.
func sparseSQL(open openBox, begin string, wake bool) func(context.Context, *testbed) (sample, error) {
	return func(ctx context.Context, l *testbed) (sample, error) {
		b, err := open(ctx, l)
		if err != nil {
			return sample{}, err
		}
		defer func() { _ = b.close() }()
		b.db.SetMaxOpenConns(1)
		if begin != "" {
			if _, err := b.db.ExecContext(ctx, begin); err != nil {
				return sample{}, err
			}
		}
		return sparse(ctx, b.store, "outbox", func(ctx context.Context, r *relay.Relay, payload []byte) error {
			_, err := b.db.ExecContext(ctx, "INSERT INTO postbag_outbox (topic, payload) VALUES ('t', ?)", payload)
			if wake {
				r.Wake("outbox")
			}
			return err
		})
	}
}
