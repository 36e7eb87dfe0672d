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
				m.Ack()
			case <-time.After(time.Minute):
				return sample{}, fmt.Errorf("watermill-sql delivered %d of %d messages", got, n)
			}
		}
		return w.stop(n), nil
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
