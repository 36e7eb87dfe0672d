package adapters

import (
	"context"
	"errors"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/postbag/postbag/inbox"
	"github.com/postbag/postbag/proof/chaos"
	"github.com/postbag/postbag/store/pgstore"
)

// consume runs a consumer whose handler writes the row of each message.
func consume[Tx any](ctx context.Context, s inbox.Store[Tx], c *chaos.Consumption, write func(context.Context, Tx, chaos.Effect) error) error {
	consumer, err := inbox.NewConsumer(inbox.ConsumerOptions[Tx]{
		Store: s, Source: c.Source, Consumer: chaos.ConsumerName, Concurrency: handlers, Timeout: 10 * time.Second, Grace: 5 * time.Second,
		Retry:  inbox.Retry{Min: 50 * time.Millisecond, Max: time.Second, MaxAttempts: 1000}, // no outage may use them up
		Logger: c.Logger,
		Handle: func(ctx context.Context, tx Tx, m *inbox.Message) error {
			if err := write(ctx, tx, c.Effect(m)); err != nil {
				return err
			}
			return c.After(ctx, m)
		},
	})
	if err != nil {
		return errors.Join(err, unread(ctx, c))
	}
	return consumer.Run(ctx)
}

// handlers is how many handlers of a consumer run at once.
const handlers = 4

// unread closes the source of a consumer that never runs.
func unread(ctx context.Context, c *chaos.Consumption) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 5*time.Second)
	defer cancel()
	return c.Source.Close(ctx)
}

// pgEffects makes the table of effects. A second row of a message would be there.
const pgEffects = `CREATE TABLE effects (n bigserial PRIMARY KEY, id text NOT NULL, k text NOT NULL, digest text NOT NULL, applied bigint NOT NULL)`

// Consume implements chaos.Applier.
func (Postgres) Consume(ctx context.Context, dsn string, c *chaos.Consumption) error {
	pool, err := pgPool(ctx, dsn, 2*handlers)
	if err != nil {
		return errors.Join(err, unread(ctx, c))
	}
	defer pool.Close()
	s, err := pgstore.Open(ctx, pool, pgstore.Options{})
	if err != nil {
		return errors.Join(err, unread(ctx, c))
	}
	err = consume[pgx.Tx](ctx, s, c, func(ctx context.Context, tx pgx.Tx, e chaos.Effect) error {
		_, err := tx.Exec(ctx, `INSERT INTO effects (id, k, digest, applied) VALUES ($1, $2, $3, $4)`, e.ID, e.Key, e.Sum, int64(e.At))
		return err
	})
	return errors.Join(err, s.Close())
}

// Effects implements chaos.Applier.
func (Postgres) Effects(ctx context.Context, dsn string, each func(chaos.Effect) error) error {
	pool, err := pgPool(ctx, dsn, 1)
	if err != nil {
		return err
	}
	defer pool.Close()
	rows, err := pool.Query(ctx, effectsQuery)
	if err != nil {
		return err
	}
	var e chaos.Effect
	var at int64
	_, err = pgx.ForEachRow(rows, []any{&e.Position, &e.ID, &e.Key, &e.Sum, &at}, func() error {
		e.At = time.Duration(at)
		return each(e)
	})
	return err
}

// effectsQuery reads the table of effects.
const effectsQuery = `SELECT n, id, k, digest, applied FROM effects ORDER BY n`
