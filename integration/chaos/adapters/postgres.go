package adapters

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"strings"

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
		return at(dsn, p.relays.Addr())
	case chaos.Producers:
		return at(dsn, p.producers.Addr())
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

// Close implements chaos.Database.
func (p *postgres) Close() (err error) {
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
