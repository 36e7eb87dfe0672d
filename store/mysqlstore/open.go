package mysqlstore

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"github.com/go-sql-driver/mysql"

	"github.com/postbag/postbag/store"
	"github.com/postbag/postbag/store/sqlkit"
	"github.com/postbag/postbag/store/storekit"
)

// Open opens the store in the database that dsn names, in the form of
// go-sql-driver/mysql, such as "app:secret@tcp(db:3306)/shop?tls=true". The store has
// sessions of its own, and sets and verifies their settings: READ COMMITTED, a strict
// sql_mode and UTC.
func Open(ctx context.Context, dsn string, o Options) (*Store, error) { return open(ctx, dsn, o, nil) }

// open opens a store, or one that only reads a replica.
func open(ctx context.Context, dsn string, o Options, reading *storekit.Reached) (*Store, error) {
	if err := o.Validate(); err != nil {
		return nil, fmt.Errorf("mysqlstore: open:\n%w", err)
	}
	config, err := mysql.ParseDSN(dsn)
	if err != nil {
		return nil, errors.New("mysqlstore: open: the DSN is malformed; give user:password@tcp(host:3306)/database?param=value")
	}
	if config.DBName == "" {
		return nil, errors.New("mysqlstore: open: the DSN names no database; give user:password@tcp(host:3306)/database")
	}
	s, err := newStore(config, o.withDefaults())
	if err == nil {
		s.reading = reading
		err = s.prepare(ctx)
	}
	if err != nil {
		if s != nil {
			err = errors.Join(err, s.Close())
		}
		return nil, err
	}
	return s, nil
}

// newStore makes the pools. It does no I/O.
func newStore(config *mysql.Config, o Options) (*Store, error) {
	comments := storekit.NewComments(o.SQLComments)
	s := &Store{opts: o, comment: comments.Relay, producer: producer{comments: comments}, woken: make(chan struct{}, 1), tombstoneKeep: tombstoneKeep}
	s.base = sqlkit.New(&dialect, sqlkit.Hooks{
		Change: func(ctx context.Context, doing string, fn func(*sqlkit.Tx) error) error {
			return s.change(ctx, doing, func(t *transaction) error { return fn(&t.Tx) })
		},
		Write: func(ctx context.Context, doing string, fn func(*sqlkit.Tx) error) error {
			return s.write(ctx, doing, func(t *transaction) error { return fn(&t.Tx) })
		},
		Snapshot: func(ctx context.Context, fn func(*sqlkit.Tx) error) error {
			return s.snapshot(ctx, func(t *transaction) error { return fn(&t.Tx) })
		},
		Query: s.query,
		Subscription: func(ctx context.Context, r store.Ref) (int64, error) {
			sub, err := s.subscription(ctx, r)
			return sub.id, err
		},
		Now:   s.now,
		Start: s.startOf,
		Wake:  s.Wake,
	})
	open := func(kind sessionKind, most int) (*sql.DB, error) {
		c, err := newConnector(config, kind)
		if err != nil {
			return nil, err
		}
		db := sql.OpenDB(c)
		db.SetMaxOpenConns(most)
		db.SetMaxIdleConns(most)
		return db, nil
	}
	var err [3]error
	s.db, err[0] = open(ordinary, o.Connections)
	s.bury, err[1] = open(burying, 1)
	s.dirty, err[2] = open(dirtyReading, 1)
	return s, translateError("open", errors.Join(err[:]...))
}

// prepare makes or checks the schema and starts the store's goroutine.
func (s *Store) prepare(ctx context.Context) error {
	if err := s.recogniseServer(ctx); err != nil {
		return err
	}
	if s.opts.Unmigrated {
		return nil
	}
	if s.opts.Create {
		if err := s.create(ctx); err != nil {
			return err
		}
	}
	if err := s.checkSchema(ctx); err != nil {
		return err
	}
	if s.reading != nil {
		_, err := s.reached(ctx, nil)
		return translateError("open a reader", err)
	}
	running, stop := context.WithCancel(context.WithoutCancel(ctx))
	s.stop = stop
	s.running.Go(func() { s.resolve(running) })
	return nil
}

func (s *Store) create(ctx context.Context) error {
	if _, err := s.Migrate(ctx); err != nil {
		return err
	}
	for _, box := range s.opts.Boxes {
		if err := s.CreateBox(ctx, box); err != nil {
			return err
		}
	}
	return nil
}
