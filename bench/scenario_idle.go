package main

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/postbag/postbag/broker/membroker"
	"github.com/postbag/postbag/relay"
	"github.com/postbag/postbag/store"
)

// idleBox is an empty box, and what its server does.
type idleBox struct {
	store store.Store
	box   string
	close func() error
	// statements is how many the relay has made. The CPU time is that of the server;
	// nil where there is none.
	statements func(context.Context, *relay.Relay) (int64, error)
	server     func() time.Duration
}

// idle runs a relay with nothing to do and counts the statements that it makes
// and the CPU time that it takes.
func idle(open func(context.Context, *testbed) (*idleBox, error)) func(context.Context, *testbed) (sample, error) {
	return func(ctx context.Context, l *testbed) (_ sample, err error) {
		b, err := open(ctx, l)
		if err != nil {
			return sample{}, err
		}
		defer func() { err = errors.Join(err, b.close()) }()
		r, stop, err := runRelay(ctx, b.store, relay.Subscription{To: membroker.Null(), Box: b.box}, relay.Options{})
		if err != nil {
			return sample{}, err
		}
		v, err := b.watch(ctx, r)
		return v, errors.Join(err, stop())
	}
}

// watch looks at a relay for a while, once it has calmed down.
func (b *idleBox) watch(ctx context.Context, r *relay.Relay) (sample, error) {
	time.Sleep(12 * time.Second)
	const watched = 10 * time.Second
	before, err := b.statements(ctx, r)
	if err != nil {
		return sample{}, err
	}
	server, client := b.serverCPU(), clientCPU()
	time.Sleep(watched)
	after, err := b.statements(ctx, r)
	if err != nil {
		return sample{}, err
	}
	server, client = b.serverCPU()-server, clientCPU()-client
	return sample{Value: float64(after-before) / watched.Seconds(), Extra: map[string]float64{
		"statements/s":  float64(after-before) / watched.Seconds(),
		"client core %": 100 * client.Seconds() / watched.Seconds(),
		"server core %": 100 * server.Seconds() / watched.Seconds(),
		"core %":        100 * (client + server).Seconds() / watched.Seconds(),
	}}, nil
}

func (b *idleBox) serverCPU() time.Duration {
	if b.server == nil {
		return 0
	}
	return b.server()
}

func idlePostgres(ctx context.Context, l *testbed) (*idleBox, error) {
	box, own, err := l.calmBox(ctx)
	if err != nil {
		return nil, err
	}
	return &idleBox{
		store: own.store, box: box, close: func() error { own.close(); return nil }, server: l.serverCPU,
		statements: func(ctx context.Context, _ *relay.Relay) (int64, error) { return l.transactions(ctx) },
	}, nil
}

// transactions is how many the relay's database has seen; an idle relay's
// statements are a transaction each. The one that asks is in another database.
func (l *testbed) transactions(ctx context.Context) (n int64, err error) {
	time.Sleep(1100 * time.Millisecond) // statistics are up to a second late
	err = l.pool.QueryRow(ctx, `select xact_commit + xact_rollback from pg_stat_database where datname = $1`, calmDatabase).Scan(&n)
	return n, err
}

func idleMariaDB(ctx context.Context, l *testbed) (*idleBox, error) {
	b, err := mysqlBox(false)(ctx, l)
	if err != nil {
		return nil, err
	}
	server, err := processOf(ctx, b.db)
	if err != nil {
		return nil, errors.Join(err, b.close())
	}
	asked := int64(0)
	return &idleBox{
		store: b.store, box: "outbox", close: b.close, server: server,
		statements: func(ctx context.Context, _ *relay.Relay) (n int64, err error) {
			asked++ // the question itself counts
			var name string
			err = b.db.QueryRowContext(ctx, "SHOW GLOBAL STATUS LIKE 'Questions'").Scan(&name, &n)
			return n - asked, err
		},
	}, nil
}

// processOf returns what tells the CPU time of a server of MySQL's or MariaDB's on this
// machine.
func processOf(ctx context.Context, db *sql.DB) (func() time.Duration, error) {
	var path string
	if err := db.QueryRowContext(ctx, "SELECT @@pid_file").Scan(&path); err != nil {
		return nil, err
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	pid, err := strconv.Atoi(strings.TrimSpace(string(text)))
	if err != nil {
		return nil, fmt.Errorf("the server's pid file: %w", err)
	}
	return func() time.Duration { return processCPU(fmt.Sprintf("/proc/%d/stat", pid)) }, nil
}

// idleSQLite has no server. What the relay asks of its store is counted in round trips.
func idleSQLite(ctx context.Context, l *testbed) (*idleBox, error) {
	b, err := sqliteBox(ctx, l)
	if err != nil {
		return nil, err
	}
	return &idleBox{
		store: b.store, box: "outbox", close: b.close,
		statements: func(_ context.Context, r *relay.Relay) (int64, error) {
			s := r.Stats()
			return s.Turns + s.Beats, nil
		},
	}, nil
}
