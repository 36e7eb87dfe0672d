package matrix

import (
	"context"
	"database/sql"
	"errors"
	"path/filepath"
	"testing"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/postbag/postbag"
	"github.com/postbag/postbag/internal/testserver"
	"github.com/postbag/postbag/internal/testserver/servertest"
	"github.com/postbag/postbag/store/memstore"
	"github.com/postbag/postbag/store/mysqlstore"
	"github.com/postbag/postbag/store/pgstore"
	"github.com/postbag/postbag/store/sqlitestore"
)

func stores() []source {
	return []source{
		{name: "PostgreSQL", open: onPostgres},
		{name: "MySQL", open: func(t *testing.T) *box { t.Helper(); return onMySQL(t, true) }},
		{name: "MariaDB", open: func(t *testing.T) *box { t.Helper(); return onMySQL(t, false) }},
		{name: "SQLite", open: onSQLite},
		{name: "memory", open: inMemory},
	}
}

// errRollback makes a transaction roll back.
var errRollback = errors.New("rolled back on purpose")

// writer returns what writes through a store.
func writer[Tx any](t *testing.T, a postbag.Appender[Tx]) func(context.Context, bool, []postbag.Message) error {
	t.Helper()
	p, err := postbag.NewPublisher(a, postbag.PublisherOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return func(ctx context.Context, commit bool, msgs []postbag.Message) error {
		err := p.InTx(ctx, func(ctx context.Context, tx Tx) error {
			if err := p.Publish(ctx, tx, msgs...); err != nil || commit {
				return err
			}
			return errRollback
		})
		if errors.Is(err, errRollback) && !commit {
			return nil
		}
		return err
	}
}

func onPostgres(t *testing.T) *box {
	t.Helper()
	server := servertest.Postgres(t, testserver.PostgresOptions{})
	dsn := server.DSN("postgres")
	pool, err := pgxpool.New(t.Context(), dsn)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(pool.Close)
	s, err := pgstore.Open(t.Context(), pool, pgstore.Options{Create: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	return &box{write: writer(t, s), store: s, dsn: dsn, server: server}
}

func onMySQL(t *testing.T, oracle bool) *box {
	t.Helper()
	server := servertest.MySQL(t, testserver.MySQLOptions{Oracle: oracle})
	admin, err := sql.Open("mysql", server.DSN(""))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = admin.Close() }()
	if _, err := admin.ExecContext(t.Context(), "CREATE DATABASE shop"); err != nil {
		t.Fatal(err)
	}
	s, err := mysqlstore.Open(t.Context(), server.DSN("shop"), mysqlstore.Options{Create: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	return &box{write: writer[postbag.SQLTx](t, s), store: s, dsn: server.DSN("shop"), server: server}
}

func onSQLite(t *testing.T) *box {
	t.Helper()
	path := filepath.Join(t.TempDir(), "outbox.db")
	s, err := sqlitestore.Open(t.Context(), path, sqlitestore.Options{Create: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	return &box{write: writer[*sql.Tx](t, s.SQL()), store: s, dsn: path}
}

func inMemory(t *testing.T) *box {
	t.Helper()
	s := memstore.New(memstore.Options{})
	if err := s.CreateBox(t.Context(), "outbox"); err != nil {
		t.Fatal(err)
	}
	return &box{write: writer(t, s), store: s}
}
