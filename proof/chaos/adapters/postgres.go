package adapters

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/postbag/postbag"
	"github.com/postbag/postbag/proof/chaos"
	"github.com/postbag/postbag/store"
	"github.com/postbag/postbag/store/pgstore"
)

// Postgres is PostgreSQL with pgstore, and a synchronous standby beside it.
type Postgres struct {
	// Pooled puts PgBouncer in transaction mode before it, in place of the standby.
	Pooled bool
}

// Name implements chaos.Store.
func (k Postgres) Name() string {
	if k.Pooled {
		return "pgbouncer"
	}
	return "postgresql"
}

// Open implements chaos.Store.
func (Postgres) Open(ctx context.Context, dsn string) (store.Store, func() error, error) {
	pool, err := pgPool(ctx, dsn, 4)
	if err != nil {
		return nil, nil, err
	}
	s, err := pgstore.Open(ctx, pool, pgstore.Options{})
	if err != nil {
		pool.Close()
		return nil, nil, err
	}
	return s, func() error {
		err := s.Close()
		pool.Close()
		return err
	}, nil
}

func pgPool(ctx context.Context, dsn string, conns int32) (*pgxpool.Pool, error) {
	c, err := pgxpool.ParseConfig(dsn)
	if err != nil {
		return nil, errors.New("adapters: the DSN of PostgreSQL is not one") // what pgx says holds the password
	}
	c.MaxConns = conns
	return pgxpool.NewWithConfig(ctx, c)
}

// Write implements chaos.Store.
func (Postgres) Write(ctx context.Context, dsn string) (chaos.Writer, error) {
	pool, err := pgPool(ctx, dsn, 16)
	if err != nil {
		return nil, err
	}
	s, err := pgstore.Open(ctx, pool, pgstore.Options{})
	if err != nil {
		pool.Close()
		return nil, err
	}
	pub, err := postbag.NewPublisher[pgx.Tx](s, postbag.PublisherOptions{})
	if err != nil {
		return nil, err
	}
	return &pgWriter{pool: pool, writer: &writer[pgx.Tx]{
		pub: pub,
		mark: func(ctx context.Context, tx pgx.Tx, name string) error {
			_, err := tx.Exec(ctx, `INSERT INTO placed VALUES ($1, true)`, name)
			return err
		},
		plain: pgPlain,
		undone: func(ctx context.Context, tx pgx.Tx, publish func(pgx.Tx) error) error {
			inner, err := tx.Begin(ctx)
			if err != nil {
				return err
			}
			return errors.Join(publish(inner), inner.Rollback(ctx))
		},
		stands: func(ctx context.Context, name string) (bool, error) { return pgStands(ctx, pool, name) },
		close:  func() error { err := s.Close(); pool.Close(); return err },
	}}, nil
}

// pgStands finishes the second phase of a transaction that has two.
func pgStands(ctx context.Context, pool *pgxpool.Pool, name string) (stands bool, err error) {
	var prepared bool
	if err := pool.QueryRow(ctx, `SELECT EXISTS (SELECT FROM pg_prepared_xacts WHERE gid = $1)`, name).Scan(&prepared); err != nil {
		return false, err
	}
	if prepared {
		if _, err := pool.Exec(ctx, `COMMIT PREPARED '`+name+`'`); err != nil {
			return false, err
		}
	}
	// It waits for a commit that is still on its way, and keeps one from coming later. It does not wait long: what is on its way may
	// be a PREPARE, which is then found prepared.
	waiting, cancel := context.WithTimeout(ctx, time.Second)
	defer cancel()
	if _, err := pool.Exec(waiting, `INSERT INTO placed VALUES ($1, false) ON CONFLICT DO NOTHING`, name); err != nil {
		return false, err
	}
	err = pool.QueryRow(ctx, `SELECT stands FROM placed WHERE name = $1`, name).Scan(&stands)
	return stands, err
}

// pgWriter has transactions in two phases too.
type pgWriter struct {
	*writer[pgx.Tx]

	pool *pgxpool.Pool
}

// Write implements chaos.Writer.
func (w *pgWriter) Write(ctx context.Context, t *chaos.Transaction) error {
	if !t.Prepared {
		return w.writer.Write(ctx, t)
	}
	tx, err := w.pool.Begin(ctx)
	if err != nil {
		return err
	}
	defer func() { _ = tx.Rollback(context.WithoutCancel(ctx)) }() // once it is prepared there is nothing to roll back
	if err := errors.Join(w.mark(ctx, tx, t.Name), w.publish(ctx, tx, t)); err != nil {
		return err
	}
	if _, err := tx.Exec(ctx, `PREPARE TRANSACTION '`+t.Name+`'`); err != nil {
		return fmt.Errorf("prepare: %w", postbag.ErrCommitUnknown)
	}
	if err := chaos.Pause(ctx, t.Delay); err != nil {
		return fmt.Errorf("prepared: %w", postbag.ErrCommitUnknown)
	}
	if _, err := w.pool.Exec(ctx, `COMMIT PREPARED '`+t.Name+`'`); err != nil {
		return fmt.Errorf("commit prepared: %w", postbag.ErrCommitUnknown)
	}
	return nil
}

func pgPlain(ctx context.Context, tx pgx.Tx, msgs []postbag.Message) error {
	rows, args := make([]string, len(msgs)), []any{}
	for i := range msgs {
		m := &msgs[i]
		headers, err := json.Marshal(m.Headers)
		if err != nil {
			return err
		}
		n := len(args)
		rows[i] = fmt.Sprintf("($%d, $%d, $%d, $%d, $%d, $%d)", n+1, n+2, n+3, n+4, n+5, n+6)
		args = append(args, m.ID.String(), m.Topic, m.Type, m.Key, string(headers), m.Payload)
	}
	_, err := tx.Exec(ctx, `INSERT INTO postbag.outbox (id, topic, type, key, headers, payload) VALUES `+strings.Join(rows, ", "), args...)
	return err
}
