package main

import (
	"context"
	"time"

	"github.com/postbag/postbag/broker/membroker"
	"github.com/postbag/postbag/relay"
)

// idle runs a relay with nothing to do and counts the statements that it makes
// and the CPU time that it takes.
func idle(ctx context.Context, l *testbed) (sample, error) {
	box, own, err := l.calmBox(ctx)
	if err != nil {
		return sample{}, err
	}
	defer own.close()
	r, err := relay.New(own.store, relay.Options{Subscriptions: []relay.Subscription{{To: membroker.Null(), Box: box}}, Logger: quiet})
	if err != nil {
		return sample{}, err
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	ended := make(chan error, 1)
	go func() { ended <- r.Run(ctx) }()
	time.Sleep(12 * time.Second) // until it has calmed down
	const watched = 10 * time.Second
	before, err := l.transactions(ctx)
	if err != nil {
		return sample{}, err
	}
	server, client := l.serverCPU(), clientCPU()
	time.Sleep(watched)
	after, err := l.transactions(ctx)
	if err != nil {
		return sample{}, err
	}
	v := sample{Value: float64(after-before) / watched.Seconds(), Extra: map[string]float64{
		"statements/s":  float64(after-before) / watched.Seconds(),
		"client core %": 100 * (clientCPU() - client).Seconds() / watched.Seconds(),
		"server core %": 100 * (l.serverCPU() - server).Seconds() / watched.Seconds(),
	}}
	cancel()
	return v, <-ended
}

// transactions is how many the relay's database has seen; an idle relay's
// statements are a transaction each. The one that asks is in another database.
func (l *testbed) transactions(ctx context.Context) (n int64, err error) {
	time.Sleep(1100 * time.Millisecond) // statistics are up to a second late
	err = l.pool.QueryRow(ctx, `select xact_commit + xact_rollback from pg_stat_database where datname = $1`, calmDatabase).Scan(&n)
	return n, err
}
