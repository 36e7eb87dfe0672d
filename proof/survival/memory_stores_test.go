package survival

import (
	"bytes"
	"database/sql"
	"fmt"
	"path/filepath"
	"testing"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/postbag/postbag/internal/testserver"
	"github.com/postbag/postbag/internal/testserver/servertest"
	"github.com/postbag/postbag/store/mysqlstore"
	"github.com/postbag/postbag/store/pgstore"
	"github.com/postbag/postbag/store/sqlitestore"
)

// fill makes a box again and writes a backlog into it, as into an old box, which does not
// bound headers. It returns how a relay finds the box.
type fill func(*testing.T, weight) (dsn string)

func largeOnPostgres(t *testing.T) fill {
	t.Helper()
	dsn := servertest.Postgres(t, testserver.PostgresOptions{}).DSN("postgres")
	return func(t *testing.T, w weight) string {
		t.Helper()
		pool, err := pgxpool.New(t.Context(), dsn)
		if err != nil {
			t.Fatal(err)
		}
		defer pool.Close()
		exec := func(statement string, args ...any) {
			t.Helper()
			if _, err := pool.Exec(t.Context(), statement, args...); err != nil {
				t.Fatal(err)
			}
		}
		exec(`drop schema if exists postbag cascade`)
		s, err := pgstore.Open(t.Context(), pool, pgstore.Options{Create: true, Boxes: []string{"outbox"}})
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = s.Close() }()
		exec(`alter domain postbag.headers drop constraint headers_are_small`)
		exec(`alter domain postbag.headers drop constraint headers_are_flat`)
		exec(`alter table postbag.outbox alter payload set storage external, alter headers set storage external`) // to be fast
		payload, headers := w.values()
		exec(`insert into postbag.outbox (topic, payload, headers) select 'events.a', $1, $2::text::json from generate_series(1, $3)`,
			payload, headers, w.n)
		return dsn
	}
}

func largeOnMariaDB(t *testing.T) fill {
	t.Helper()
	server := servertest.MySQL(t, testserver.MySQLOptions{})
	return func(t *testing.T, w weight) string {
		t.Helper()
		admin, err := sql.Open("mysql", server.DSN(""))
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = admin.Close() }()
		for _, statement := range []string{
			"SET GLOBAL max_allowed_packet = 1073741824", "DROP DATABASE IF EXISTS shop", "CREATE DATABASE shop",
		} {
			if _, err := admin.ExecContext(t.Context(), statement); err != nil {
				t.Fatal(err)
			}
		}
		s, err := mysqlstore.Open(t.Context(), server.DSN("shop"), mysqlstore.Options{Create: true, Boxes: []string{"outbox"}})
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = s.Close() }()
		db, err := sql.Open("mysql", server.DSN("shop"))
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = db.Close() }()
		insertLarge(t, db, w, "SET SESSION check_constraint_checks = 0",
			fmt.Sprintf("INSERT INTO postbag_outbox (topic, payload, headers) SELECT 'events.a', ?, ? FROM seq_1_to_%d", w.n))
		return server.DSN("shop")
	}
}

func largeOnSQLite(t *testing.T) fill {
	t.Helper()
	return func(t *testing.T, w weight) string {
		t.Helper()
		path := filepath.Join(t.TempDir(), "outbox.db")
		s, err := sqlitestore.Open(t.Context(), path, sqlitestore.Options{Create: true, Boxes: []string{"outbox"}})
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = s.Close() }()
		db, err := sql.Open("sqlite", path)
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = db.Close() }()
		insertLarge(t, db, w, "PRAGMA ignore_check_constraints = 1", fmt.Sprintf(`INSERT INTO postbag_outbox (topic, payload, headers)
			WITH RECURSIVE n (i) AS (VALUES (1) UNION ALL SELECT i + 1 FROM n WHERE i < %d) SELECT 'events.a', ?, ? FROM n`, w.n))
		return path
	}
}

// insertLarge has one session no more look at constraints, and write a backlog.
func insertLarge(t *testing.T, db *sql.DB, w weight, unbound, insert string) {
	t.Helper()
	c, err := db.Conn(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = c.Close() }()
	if _, err := c.ExecContext(t.Context(), unbound); err != nil {
		t.Fatal(err)
	}
	payload, headers := w.values()
	if _, err := c.ExecContext(t.Context(), insert, payload, headers); err != nil {
		t.Fatal(err)
	}
}

// values are the payload and the headers, as JSON, of each message.
func (w weight) values() (payload []byte, headers *string) {
	payload = bytes.Repeat([]byte("x"), w.payload)
	if w.headers > 0 {
		text := fmt.Sprintf(`{"h":"%s"}`, bytes.Repeat([]byte("x"), w.headers))
		headers = &text
	}
	return payload, headers
}
