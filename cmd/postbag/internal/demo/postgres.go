package demo

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"

	"github.com/jackc/pgx/v5/pgxpool"
	_ "github.com/jackc/pgx/v5/stdlib" // the driver pgx of database/sql

	"github.com/postbag/postbag/internal/testserver"
	"github.com/postbag/postbag/store"
	"github.com/postbag/postbag/store/pgstore"
)

// shopDatabase is the shop's, on the private server.
const shopDatabase = "shop"

// openPostgres starts a private PostgreSQL server, as durable as it comes, with
// the schema and the box. It ends with the demo, also with one that is killed.
func openPostgres(ctx context.Context) (*database, error) {
	server, err := testserver.StartPostgres(ctx, testserver.PostgresOptions{})
	if missing, ok := errors.AsType[*testserver.MissingError](err); ok {
		return nil, fmt.Errorf("demo: this machine lacks %s; %s, or leave --postgres out: the demo on SQLite needs nothing",
			missing.What, missing.Fix)
	}
	if err != nil {
		return nil, fmt.Errorf("demo: the PostgreSQL server does not start: %w", err)
	}
	d, err := openShopDatabase(ctx, server)
	if err != nil {
		return nil, errors.Join(fmt.Errorf("demo: PostgreSQL: %w", err), server.Close())
	}
	return d, nil
}

func openShopDatabase(ctx context.Context, server *testserver.Postgres) (*database, error) {
	if err := server.CreateDatabase(ctx, shopDatabase); err != nil {
		return nil, err
	}
	dsn := server.DSN(shopDatabase)
	if err := makeBox(ctx, dsn); err != nil {
		return nil, err
	}
	db, err := sql.Open("pgx", dsn)
	if err != nil {
		return nil, err
	}
	db.SetMaxIdleConns(tills)
	appender, err := pgstore.OpenAppender(ctx, db, pgstore.AppenderOptions{})
	if err != nil {
		return nil, errors.Join(err, db.Close())
	}
	_, version, _ := strings.Cut(server.Version(), "(PostgreSQL) ")
	version, _, _ = strings.Cut(version, " ")
	return &database{
		name: fmt.Sprintf("PostgreSQL %s, a private server on port %d", version, server.Port()), sql: db, appender: appender,
		env:   []string{EnvPostgres + "=" + dsn},
		close: func() error { return errors.Join(db.Close(), server.Close()) },
	}, nil
}

// makeBox makes the schema and the box outbox.
func makeBox(ctx context.Context, dsn string) error {
	_, closeStore, err := openPool(ctx, dsn, pgstore.Options{Create: true})
	if err != nil {
		return err
	}
	return closeStore()
}

// openPostgresStore opens the box for the relay's process.
func openPostgresStore(ctx context.Context, dsn string) (store.Store, func() error, error) {
	return openPool(ctx, dsn, pgstore.Options{})
}

func openPool(ctx context.Context, dsn string, o pgstore.Options) (store.Store, func() error, error) {
	pool, err := pgxpool.New(ctx, dsn)
	if err != nil {
		return nil, nil, errors.New("demo: the address of the private PostgreSQL server cannot be read; this command is for postbag-demo alone")
	}
	s, err := pgstore.Open(ctx, pool, o)
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
