package main

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"time"

	_ "github.com/go-sql-driver/mysql"

	"github.com/postbag/postbag"
	"github.com/postbag/postbag/broker"
	"github.com/postbag/postbag/broker/membroker"
	"github.com/postbag/postbag/internal/testserver"
	"github.com/postbag/postbag/relay"
	"github.com/postbag/postbag/store"
	"github.com/postbag/postbag/store/mysqlstore"
	"github.com/postbag/postbag/store/sqlitestore"
)

// sqlBox is an empty box of a store over database/sql.
type sqlBox struct {
	store  store.Store
	box    string                                                  // its name; empty: outbox
	append func(ctx context.Context, msgs []postbag.Message) error // in a transaction of its own
	db     *sql.DB                                                 // for the reference
	dsn    string                                                  // of a server
	close  func() error
}

// openBox makes an empty box named outbox.
type openBox func(ctx context.Context, l *testbed) (*sqlBox, error)

func inTx[Tx any](p *postbag.Publisher[Tx]) func(context.Context, []postbag.Message) error {
	return func(ctx context.Context, msgs []postbag.Message) error {
		return p.InTx(ctx, func(ctx context.Context, tx Tx) error { return p.Publish(ctx, tx, msgs...) })
	}
}

func (l *testbed) startMySQL(ctx context.Context, oracle bool) (*testserver.MySQL, error) {
	server, log := &l.mariadb, "innodb-log-file-size"
	if oracle {
		server, log = &l.mysql, "innodb-redo-log-capacity"
	}
	return once(l, server, func() (*testserver.MySQL, error) {
		return testserver.StartMySQL(ctx, testserver.MySQLOptions{Oracle: oracle, Settings: map[string]string{
			"innodb-buffer-pool-size": "1G", log: "1G",
		}})
	})
}

// mysqlBox is in a database of its own.
func mysqlBox(oracle bool) openBox {
	return func(ctx context.Context, l *testbed) (*sqlBox, error) {
		dsn, drop, err := l.mysqlDatabase(ctx, oracle)
		if err != nil {
			return nil, err
		}
		s, err := mysqlstore.Open(ctx, dsn, mysqlstore.Options{Create: true, Connections: 12})
		if err != nil {
			return nil, err
		}
		p, err := postbag.NewPublisher(s, postbag.PublisherOptions{})
		if err != nil {
			return nil, err
		}
		db, err := sql.Open("mysql", dsn)
		return &sqlBox{
			store: s, append: inTx(p), db: db, dsn: dsn,
			close: func() error { return errors.Join(s.Close(), db.Close(), drop()) },
		}, err
	}
}

// mysqlDatabase makes a database; drop removes it.
func (l *testbed) mysqlDatabase(ctx context.Context, oracle bool) (dsn string, drop func() error, err error) {
	server, err := l.startMySQL(ctx, oracle)
	if err != nil {
		return "", nil, err
	}
	l.boxes++
	name := fmt.Sprintf("bench%d", l.boxes)
	exec := func(ctx context.Context, order string) error {
		admin, err := sql.Open("mysql", server.DSN(""))
		if err != nil {
			return err
		}
		_, err = admin.ExecContext(ctx, order)
		return errors.Join(err, admin.Close())
	}
	return server.DSN(name), func() error { return exec(context.WithoutCancel(ctx), "DROP DATABASE "+name) }, exec(ctx, "CREATE DATABASE "+name)
}

func sqliteBox(ctx context.Context, _ *testbed) (*sqlBox, error) {
	dir, err := os.MkdirTemp("", "postbag-bench-")
	if err != nil {
		return nil, err
	}
	path := filepath.Join(dir, "outbox.db")
	s, err := sqlitestore.Open(ctx, path, sqlitestore.Options{Create: true})
	if err != nil {
		return nil, err
	}
	p, err := postbag.NewPublisher(s, postbag.PublisherOptions{})
	if err != nil {
		return nil, err
	}
	db, err := sql.Open("sqlite", path)
	return &sqlBox{
		store: s, append: inTx(p), db: db,
		close: func() error { return errors.Join(s.Close(), db.Close(), os.RemoveAll(dir)) },
	}, err
}

// fill commits n messages over 10,000 keys.
func (b *sqlBox) fill(ctx context.Context, n int) error {
	for done := 0; done < n; {
		msgs := make([]postbag.Message, min(5000, n-done))
		for i := range msgs {
			msgs[i] = newMessage((done + i) % 10_000)
		}
		if err := b.append(ctx, msgs); err != nil {
			return err
		}
		done += len(msgs)
	}
	return nil
}

// bareSelect is the reference: every row by the primary key, a thousand a statement, and nothing else.
func bareSelect(n int, open openBox) func(context.Context, *testbed) (sample, error) {
	return selecting(n, open, 1000, false)
}

// settledSelect reads as many as a relay that has 1,000 in flight may settle at a
// time, and commits a position after each page, on a session of its own while the
// next page is read: what the contract costs without a relay.
func settledSelect(n int, open openBox) func(context.Context, *testbed) (sample, error) {
	return selecting(n, open, 500, true)
}

func selecting(n int, open openBox, page int, settle bool) func(context.Context, *testbed) (sample, error) {
	return func(ctx context.Context, l *testbed) (_ sample, err error) {
		b, err := open(ctx, l)
		if err != nil {
			return sample{}, err
		}
		defer func() { err = errors.Join(err, b.close()) }()
		if err := b.fill(ctx, n); err != nil {
			return sample{}, err
		}
		read, err := b.db.PrepareContext(ctx, "SELECT seq, id, at, topic, `key`, type, headers, payload FROM postbag_outbox WHERE seq > ? ORDER BY seq LIMIT ?")
		if err != nil {
			return sample{}, err
		}
		defer func() { _ = read.Close() }()
		move := func(int64) func() error { return func() error { return nil } }
		if settle {
			if move, err = b.mover(ctx); err != nil {
				return sample{}, err
			}
		}
		w := l.start()
		after, got := int64(0), 0
		for got < n {
			moved := move(after)
			k, last, err := readPage(ctx, read, after, page)
			err = errors.Join(err, moved())
			if err != nil || k == 0 {
				return sample{}, errors.Join(err, fmt.Errorf("the reference read %d of %d rows", got, n))
			}
			got, after = got+k, last
		}
		return w.stop(n), nil
	}
}

// mover makes a table of one position, and returns what begins to move it on; what
// that returns waits for its commit.
func (b *sqlBox) mover(ctx context.Context) (func(int64) func() error, error) {
	for _, text := range []string{"CREATE TABLE bench_position (one INT PRIMARY KEY, pos BIGINT NOT NULL)", "INSERT INTO bench_position VALUES (1, 0)"} {
		if _, err := b.db.ExecContext(ctx, text); err != nil {
			return nil, err
		}
	}
	return func(pos int64) func() error {
		done := make(chan error, 1)
		go func() {
			_, err := b.db.ExecContext(ctx, fmt.Sprintf("UPDATE bench_position SET pos = %d WHERE one = 1", pos))
			done <- err
		}()
		return func() error { return <-done }
	}, nil
}

func readPage(ctx context.Context, read *sql.Stmt, after int64, page int) (n int, last int64, err error) {
	rows, err := read.QueryContext(ctx, after, page)
	if err != nil {
		return 0, 0, err
	}
	defer func() { _ = rows.Close() }()
	var at int64
	var id, topic, key, kind, headers, payload sql.RawBytes
	for rows.Next() {
		if err := rows.Scan(&last, &id, &at, &topic, &key, &kind, &headers, &payload); err != nil {
			return 0, 0, err
		}
		n++
	}
	return n, last, rows.Err()
}

// begun notes when the first message arrives.
type begun struct {
	broker.Destination

	first func()
}

func (b *begun) Publish(ctx context.Context, msgs []broker.Delivery, report func(i int, r broker.Result)) {
	b.first()
	b.Destination.Publish(ctx, msgs, report)
}

// drainBox has a relay drain a box into nothing. The time begins with the first call.
func drainBox(n int, open openBox) func(context.Context, *testbed) (sample, error) {
	return func(ctx context.Context, l *testbed) (_ sample, err error) {
		b, err := open(ctx, l)
		if err != nil {
			return sample{}, err
		}
		defer func() { err = errors.Join(err, b.close()) }()
		if err := b.fill(ctx, n); err != nil {
			return sample{}, err
		}
		var w stopwatch
		counted := newCounter(n)
		to := &begun{Destination: membroker.Null(), first: sync.OnceFunc(func() { w = l.start() })}
		sub := relay.Subscription{To: to, Use: []broker.Middleware{counted.before}}
		r, err := relay.New(b.store, relay.Options{Subscriptions: []relay.Subscription{sub}, Logger: quiet, NoMaintenance: true})
		if err != nil {
			return sample{}, err
		}
		ctx, cancel := context.WithTimeout(ctx, 5*time.Minute)
		defer cancel()
		ended := make(chan error, 1)
		go func() { ended <- r.Run(ctx) }()
		select {
		case <-counted.done:
		case err := <-ended:
			return sample{}, fmt.Errorf("the relay ended after %d of %d: %w", counted.count(), n, err)
		}
		v := w.stop(n)
		v.Extra["turns/1000"] = float64(r.Stats().Turns) * 1000 / float64(n)
		cancel()
		return v, <-ended
	}
}
