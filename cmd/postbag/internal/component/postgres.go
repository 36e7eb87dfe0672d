package component

import (
	"context"
	"errors"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/postbag/postbag/cmd/postbag/internal/exit"
	"github.com/postbag/postbag/pgstore"
)

// defaultConns is how many connections a relay has: a turn, a heartbeat, the
// parking lot and housekeeping can be under way at a time.
const defaultConns = 4

func openPostgres(ctx context.Context, dsn string, o StoreOptions) (*Store, error) {
	c, err := pgxpool.ParseConfig(dsn)
	if err != nil {
		// pgx's error may quote the DSN, and with it a password.
		return nil, exit.Usagef("store: the PostgreSQL DSN cannot be read; write postgres://user@host:5432/database, or host=... dbname=...")
	}
	if c.ConnConfig.RuntimeParams["application_name"] == "" {
		c.ConnConfig.RuntimeParams["application_name"] = "postbag"
	}
	c.MaxConns = defaultConns
	if o.MaxConns > 0 {
		c.MaxConns = int32(o.MaxConns)
	}
	pool, err := pgxpool.NewWithConfig(ctx, c)
	if err != nil {
		return nil, exit.Usagef("store: the PostgreSQL DSN cannot be used; see that host, port and database are right")
	}
	po := pgstore.Options{Create: o.Create && !o.Unmigrated, Unmigrated: o.Unmigrated}
	if po.Create {
		po.Boxes = append([]string{}, o.Boxes...)
	}
	s, err := pgstore.Open(ctx, pool, po)
	if err != nil {
		pool.Close()
		return nil, err
	}
	return &Store{
		Store: s, Inspector: s, Operator: s, Migrator: s, Publish: publisherOf(s),
		Close: func() error {
			err := s.Close()
			pool.Close()
			return errors.Join(err)
		},
	}, nil
}
