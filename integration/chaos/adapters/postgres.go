package adapters

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/postbag/postbag"
	"github.com/postbag/postbag/integration/chaos"
	"github.com/postbag/postbag/internal/testserver"
	"github.com/postbag/postbag/pgstore"
	"github.com/postbag/postbag/store"
)

// Postgres is PostgreSQL with pgstore.
type Postgres struct{}

// Name implements chaos.Store.
func (Postgres) Name() string { return "postgresql" }

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
	return &writer[pgx.Tx]{
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
		stands: func(ctx context.Context, name string) (stands bool, err error) {
			// It waits for a commit that is still on its way, and keeps one from coming later.
			if _, err := pool.Exec(ctx, `INSERT INTO placed VALUES ($1, false) ON CONFLICT DO NOTHING`, name); err != nil {
				return false, err
			}
			err = pool.QueryRow(ctx, `SELECT stands FROM placed WHERE name = $1`, name).Scan(&stands)
			return stands, err
		},
		close: func() error { err := s.Close(); pool.Close(); return err },
	}, nil
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
		rows[i] = fmt.Sprintf("($%d, $%d, $%d, $%d, $%d)", n+1, n+2, n+3, n+4, n+5)
		args = append(args, m.ID.String(), m.Topic, m.Key, string(headers), m.Payload)
	}
	_, err := tx.Exec(ctx, `INSERT INTO postbag.outbox (id, topic, key, headers, payload) VALUES `+strings.Join(rows, ", "), args...)
	return err
}

// postgres is a started PostgreSQL.
type postgres struct {
	server            *testserver.Postgres
	relays, producers *chaos.Wire
	watch             *pgxpool.Pool
}

// Start implements chaos.Store.
func (Postgres) Start(ctx context.Context, _ chaos.Terms) (_ chaos.Database, err error) {
	p := &postgres{}
	defer func() {
		if err != nil {
			err = errors.Join(err, p.Close())
		}
	}()
	if p.server, err = testserver.StartPostgres(ctx, testserver.PostgresOptions{}); err != nil {
		return nil, err
	}
	direct := fmt.Sprintf("127.0.0.1:%d", p.server.Port())
	if p.relays, err = chaos.NewWire(direct); err != nil {
		return nil, err
	}
	if p.producers, err = chaos.NewWire(direct); err != nil {
		return nil, err
	}
	pool, err := pgPool(ctx, p.DSN(chaos.Operators), 2)
	if err != nil {
		return nil, err
	}
	defer pool.Close()
	s, err := pgstore.Open(ctx, pool, pgstore.Options{Create: true})
	if err != nil {
		return nil, err
	}
	// A transaction's row stands there if the transaction does.
	_, err = pool.Exec(ctx, `CREATE TABLE placed (name text PRIMARY KEY, stands boolean NOT NULL)`)
	return p, errors.Join(err, s.Close())
}

// Version implements chaos.Database.
func (p *postgres) Version() string { return p.server.Version() }

// DSN implements chaos.Database.
func (p *postgres) DSN(role chaos.Role) string {
	dsn := p.server.DSN("postgres")
	switch role {
	case chaos.Relays:
		return named(at(dsn, p.relays.Addr()), role)
	case chaos.Producers:
		return named(at(dsn, p.producers.Addr()), role)
	default:
		return dsn
	}
}

// at is a URL with another host and port.
func at(dsn, host string) string {
	u, err := url.Parse(dsn)
	if err != nil {
		return dsn
	}
	u.Host = host
	return u.String()
}

// named is a URL whose sessions say what they are for.
func named(dsn string, role chaos.Role) string {
	u, err := url.Parse(dsn)
	if err != nil {
		return dsn
	}
	q := u.Query()
	q.Set("application_name", string(role))
	u.RawQuery = q.Encode()
	return u.String()
}

// pgWatch asks what sessions of relays do to others: the longest that one of them is idle in a transaction, and the longest that a
// session of a producer waits for one of them. It reads what sessions show of themselves, and locks nothing.
const pgWatch = `
SELECT coalesce(max(extract(epoch FROM clock_timestamp() - a.state_change)) FILTER (
		WHERE a.application_name = 'relay' AND a.state LIKE 'idle in transaction%'), 0)::float8,
	coalesce(max(extract(epoch FROM clock_timestamp() - l.waitstart)) FILTER (
		WHERE a.application_name = 'producer' AND EXISTS (SELECT FROM pg_stat_activity b
			WHERE b.application_name = 'relay' AND b.pid = ANY (pg_blocking_pids(a.pid)))), 0)::float8
FROM pg_stat_activity a LEFT JOIN pg_locks l ON l.pid = a.pid AND NOT l.granted`

// Watch implements chaos.Watched.
func (p *postgres) Watch(ctx context.Context) (open, waited time.Duration, err error) {
	if p.watch == nil {
		if p.watch, err = pgPool(ctx, p.DSN(chaos.Operators), 1); err != nil {
			return 0, 0, err
		}
	}
	var openFor, waitedFor float64
	err = p.watch.QueryRow(ctx, pgWatch).Scan(&openFor, &waitedFor)
	return time.Duration(openFor * float64(time.Second)), time.Duration(waitedFor * float64(time.Second)), err
}

// Close implements chaos.Database.
func (p *postgres) Close() (err error) {
	if p.watch != nil {
		p.watch.Close()
	}
	for _, w := range []*chaos.Wire{p.relays, p.producers} {
		if w != nil {
			err = errors.Join(err, w.Close())
		}
	}
	if p.server != nil {
		err = errors.Join(err, p.server.Close())
	}
	return err
}
