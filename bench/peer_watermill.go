package main

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"github.com/ThreeDotsLabs/watermill"
	watermillsql "github.com/ThreeDotsLabs/watermill-sql/v3/pkg/sql"
	"github.com/ThreeDotsLabs/watermill/message"
	"github.com/ThreeDotsLabs/watermill/message/router/middleware"
	_ "github.com/jackc/pgx/v5/stdlib"
)

// watermillDrain has watermill-sql, tuned, read what its publisher wrote, into nothing.
func watermillDrain(n int, open func(context.Context, *testbed) (*sql.DB, func() error, error), schema watermillsql.SchemaAdapter,
	offsets watermillsql.OffsetsAdapter,
) func(context.Context, *testbed) (sample, error) {
	return func(ctx context.Context, l *testbed) (_ sample, err error) {
		db, drop, err := open(ctx, l)
		if err != nil {
			return sample{}, err
		}
		defer func() { err = errors.Join(err, db.Close(), drop()) }()
		return l.watermillRead(ctx, n, db, schema, offsets, func(*message.Message) error { return nil })
	}
}

// watermillRead has watermill-sql give n messages to handle, and acks each.
func (l *testbed) watermillRead(ctx context.Context, n int, db *sql.DB, schema watermillsql.SchemaAdapter, offsets watermillsql.OffsetsAdapter,
	handle func(*message.Message) error,
) (sample, error) {
	s, err := watermillsql.NewSubscriber(db, watermillsql.SubscriberConfig{
		ConsumerGroup: "bench", SchemaAdapter: schema, OffsetsAdapter: offsets, InitializeSchema: true,
		PollInterval: time.Millisecond, ResendInterval: time.Millisecond, RetryInterval: time.Millisecond,
	}, watermill.NopLogger{})
	if err != nil {
		return sample{}, err
	}
	defer func() { _ = s.Close() }()
	if err := s.SubscribeInitialize("bench"); err != nil {
		return sample{}, err
	}
	if err := watermillFill(ctx, db, schema, n); err != nil {
		return sample{}, err
	}
	messages, err := s.Subscribe(ctx, "bench")
	if err != nil {
		return sample{}, err
	}
	var w stopwatch
	for got := range n {
		select {
		case m := <-messages:
			if got == 0 {
				w = l.start()
			}
			if err := handle(m); err != nil {
				return sample{}, err
			}
			m.Ack()
		case <-time.After(time.Minute):
			return sample{}, fmt.Errorf("watermill-sql delivered %d of %d messages", got, n)
		}
	}
	return w.stop(n), nil
}

// watermillApply has Watermill's deduplicator before a handler that changes an account, each in a transaction. It remembers
// ids in memory, so it does not outlive its process: what comes again after a crash is applied again.
func watermillApply(n int) func(context.Context, *testbed) (sample, error) {
	return func(ctx context.Context, l *testbed) (_ sample, err error) {
		db, drop, err := emptyPostgres(ctx, l)
		if err != nil {
			return sample{}, err
		}
		defer func() { err = errors.Join(err, db.Close(), drop()) }()
		if _, err := db.ExecContext(ctx, ownTable); err != nil {
			return sample{}, err
		}
		known, err := middleware.NewMapExpiringKeyRepository(time.Hour)
		if err != nil {
			return sample{}, err
		}
		once := &middleware.Deduplicator{Repository: known, KeyFactory: func(m *message.Message) (string, error) { return m.UUID, nil }}
		client := 0
		handle := once.Middleware(func(*message.Message) ([]*message.Message, error) {
			client++
			_, err := db.ExecContext(ctx, ownUpdate, client%accounts) // a transaction of its own
			return nil, err
		})
		return l.watermillRead(ctx, n, db, watermillsql.DefaultPostgreSQLSchema{}, watermillsql.DefaultPostgreSQLOffsetsAdapter{}, func(m *message.Message) error {
			_, err := handle(m)
			return err
		})
	}
}

func watermillFill(ctx context.Context, db *sql.DB, schema watermillsql.SchemaAdapter, n int) error {
	for done := 0; done < n; done += 1000 {
		tx, err := db.BeginTx(ctx, nil)
		if err != nil {
			return err
		}
		p, err := watermillsql.NewPublisher(tx, watermillsql.PublisherConfig{SchemaAdapter: schema}, watermill.NopLogger{})
		if err != nil {
			return err
		}
		msgs := make([]*message.Message, 1000)
		for i := range msgs {
			msgs[i] = message.NewMessage(watermill.NewUUID(), payload)
			msgs[i].Metadata = message.Metadata{"trace": "0af7651916cd43dd8448eb211c80319c", "tenant": "7", "key": fmt.Sprintf("key-%d", (done+i)%10_000)}
		}
		if err := errors.Join(p.Publish("bench", msgs...), tx.Commit()); err != nil {
			return err
		}
	}
	return nil
}

// emptyMySQL is a database for a peer.
func emptyMySQL(oracle bool) func(context.Context, *testbed) (*sql.DB, func() error, error) {
	return func(ctx context.Context, l *testbed) (*sql.DB, func() error, error) {
		dsn, drop, err := l.mysqlDatabase(ctx, oracle)
		if err != nil {
			return nil, nil, err
		}
		db, err := sql.Open("mysql", dsn+"?parseTime=true")
		return db, drop, err
	}
}

// emptyPostgres is a database for a peer.
func emptyPostgres(ctx context.Context, l *testbed) (*sql.DB, func() error, error) {
	l.boxes++
	name := fmt.Sprintf("peer%d", l.boxes)
	if _, err := l.pool.Exec(ctx, "create database "+name); err != nil {
		return nil, nil, err
	}
	db, err := sql.Open("pgx", l.pg.DSN(name))
	return db, func() error {
		_, err := l.pool.Exec(context.WithoutCancel(ctx), "drop database "+name+" with (force)")
		return err
	}, err
}
