package main

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/postbag/postbag"
	"github.com/postbag/postbag/store/pgstore"
)

// writeFor has clients commit transactions for a while and returns how many
// messages a second they wrote.
func (l *testbed) writeFor(ctx context.Context, d time.Duration, clients, perTx int, write func(ctx context.Context, tx pgx.Tx, client int) error) (sample, error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var n atomic.Int64
	var wg sync.WaitGroup
	w := l.start()
	deadline := time.Now().Add(d)
	for i := range clients {
		wg.Go(func() {
			for time.Now().Before(deadline) && ctx.Err() == nil {
				err := pgx.BeginFunc(ctx, l.pool, func(tx pgx.Tx) error { return write(ctx, tx, i) })
				if err != nil {
					cancel(err)
					return
				}
				n.Add(int64(perTx))
			}
		})
	}
	wg.Wait()
	return w.stop(int(n.Load())), context.Cause(ctx)
}

const rawInsert = `insert into postbag.%s (topic, key, type, headers, payload) values ($1, $2, $3, $4, $5)`

const rawArrays = `insert into postbag.%s (topic, key, type, headers, payload)
select * from unnest($1::text[], $2::text[], $3::text[], $4::text[]::json[], $5::bytea[])`

var rawHeaders = `{"trace":"0af7651916cd43dd8448eb211c80319c","tenant":"7"}`

// publishing runs one way to write on a fresh box.
func publishing(clients, perTx int, way func(box string, p *postbag.Publisher[pgx.Tx]) func(context.Context, pgx.Tx, int) error) func(context.Context, *testbed) (sample, error) {
	return func(ctx context.Context, l *testbed) (sample, error) {
		box, s, err := l.box(ctx)
		if err != nil {
			return sample{}, err
		}
		defer func() { _ = s.Close() }()
		p, err := postbag.NewPublisher(s, postbag.PublisherOptions{Box: box})
		if err != nil {
			return sample{}, err
		}
		v, err := l.writeFor(ctx, 4*time.Second, clients, perTx, way(box, p))
		if err != nil {
			return sample{}, err
		}
		return v, l.drop(ctx, box)
	}
}

func insertRaw(box string, _ *postbag.Publisher[pgx.Tx]) func(context.Context, pgx.Tx, int) error {
	q := fmt.Sprintf(rawInsert, pgx.Identifier{box}.Sanitize())
	return func(ctx context.Context, tx pgx.Tx, client int) error {
		_, err := tx.Exec(ctx, q, "bench.a", fmt.Sprint("key-", client), "bench", rawHeaders, payload)
		return err
	}
}

func insertArrays(n int) func(string, *postbag.Publisher[pgx.Tx]) func(context.Context, pgx.Tx, int) error {
	return func(box string, _ *postbag.Publisher[pgx.Tx]) func(context.Context, pgx.Tx, int) error {
		q := fmt.Sprintf(rawArrays, pgx.Identifier{box}.Sanitize())
		topics, keys, types, headers, payloads := make([]string, n), make([]string, n), make([]string, n), make([]string, n), make([][]byte, n)
		for i := range n {
			topics[i], keys[i], types[i], headers[i], payloads[i] = "bench.a", fmt.Sprint("key-", i), "bench", rawHeaders, payload
		}
		return func(ctx context.Context, tx pgx.Tx, _ int) error {
			_, err := tx.Exec(ctx, q, topics, keys, types, headers, payloads)
			return err
		}
	}
}

func publishMany(n int) func(string, *postbag.Publisher[pgx.Tx]) func(context.Context, pgx.Tx, int) error {
	return func(_ string, p *postbag.Publisher[pgx.Tx]) func(context.Context, pgx.Tx, int) error {
		return func(ctx context.Context, tx pgx.Tx, client int) error {
			msgs := make([]postbag.Message, n)
			for i := range msgs {
				msgs[i] = newMessage(client + i)
			}
			return p.Publish(ctx, tx, msgs...)
		}
	}
}

// producers measures writers alone, and beside a relay that delivers what they
// write.
func producers(relays int) func(context.Context, *testbed) (sample, error) {
	return func(ctx context.Context, l *testbed) (sample, error) {
		box, s, err := l.box(ctx)
		if err != nil {
			return sample{}, err
		}
		defer func() { _ = s.Close() }()
		p, err := postbag.NewPublisher(s, postbag.PublisherOptions{Box: box})
		if err != nil {
			return sample{}, err
		}
		stop := func() error { return nil }
		if relays > 0 {
			if stop, err = relayProcess(ctx, kindPostgres, l.pg.DSN("postgres"), box); err != nil {
				return sample{}, err
			}
		}
		v, err := l.writeFor(ctx, 5*time.Second, 8, 1, publishMany(1)(box, p))
		if stopErr := stop(); err == nil {
			err = stopErr
		}
		if err != nil {
			return sample{}, err
		}
		return v, l.drop(ctx, box)
	}
}

var _ postbag.Appender[pgx.Tx] = (*pgstore.Store)(nil)
