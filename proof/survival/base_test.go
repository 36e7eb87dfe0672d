package survival

import (
	"context"
	"database/sql"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	_ "github.com/jackc/pgx/v5/stdlib" // the driver

	"github.com/postbag/postbag/internal/testserver"
	"github.com/postbag/postbag/internal/testserver/servertest"
	"github.com/postbag/postbag/proof/history"
	"github.com/postbag/postbag/store/sqlitestore"
)

// Kinds of bases.
const (
	postgres = "postgresql"
	mariadb  = "mariadb"
	sqlite   = "sqlite"
)

// base is a database of a test: a box may be in it, and effects.
type base struct {
	t         *testing.T
	kind, dsn string
	subjects  int                         // that messages have, whose effects are counted
	db        *sql.DB                     // the test's own
	restart   func(context.Context) error // ends the server without a warning, and starts it; nil: there is none
}

func postgresBase(t *testing.T) *base {
	t.Helper()
	pg := servertest.Postgres(t, testserver.PostgresOptions{})
	return newBase(t, postgres, pg.DSN("postgres"), "pgx", pg.DSN("postgres"), func(ctx context.Context) error {
		return pg.Restart(ctx, testserver.StopImmediate)
	})
}

func mariadbBase(t *testing.T) *base {
	t.Helper()
	server := servertest.MySQL(t, testserver.MySQLOptions{})
	admin, err := sql.Open("mysql", server.DSN(""))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = admin.Close() }()
	if _, err := admin.ExecContext(t.Context(), "create database shop"); err != nil {
		t.Fatal(err)
	}
	return newBase(t, mariadb, server.DSN("shop"), "mysql", server.DSN("shop"), func(ctx context.Context) error {
		if err := server.Kill(ctx); err != nil {
			return err
		}
		return server.Start(ctx)
	})
}

func sqliteBase(t *testing.T) *base {
	t.Helper()
	path := filepath.Join(t.TempDir(), "base.db")
	return newBase(t, sqlite, path, "sqlite", sqlitestore.DSN(path), nil)
}

// newBase makes the schema, and a box.
func newBase(t *testing.T, kind, dsn, driver, own string, restart func(context.Context) error) *base {
	t.Helper()
	p, err := openPlace(t.Context(), kind, dsn, true)
	if err != nil {
		t.Fatal(err)
	}
	if err := p.Close(); err != nil {
		t.Fatal(err)
	}
	b := &base{t: t, kind: kind, dsn: dsn, restart: restart}
	if b.db, err = sql.Open(driver, own); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = b.db.Close() })
	return b
}

// createEffects makes the tables that handlers write: how many messages of a subject were applied, and each with its place among them.
// They have no key that would keep a second effect out.
func (b *base) createEffects(subjects int) {
	b.t.Helper()
	b.subjects = subjects
	rows := make([]string, subjects)
	for i := range rows {
		rows[i] = fmt.Sprintf("('%s', 0)", subject(i))
	}
	for _, text := range []string{
		"create table counters (subject varchar(50) primary key, n integer not null)",
		"insert into counters (subject, n) values " + strings.Join(rows, ", "),
		"create table effects (id varchar(50) not null, subject varchar(50) not null, number integer not null, attempt integer not null, nth integer not null)",
	} {
		if _, err := b.db.ExecContext(b.t.Context(), text); err != nil {
			b.t.Fatal(err)
		}
	}
}

// What a handler does for a message.
const (
	countEffect = "update counters set n = n + 1 where subject = ?"
	writeEffect = "insert into effects (id, subject, number, attempt, nth) values (?, ?, ?, ?, (select n from counters where subject = ?))"
)

// dialect writes the parameters of a statement as the database wants them.
func dialect(kind, statement string) string {
	if kind != postgres {
		return statement
	}
	parts := strings.Split(statement, "?")
	for i := range parts[:len(parts)-1] {
		parts[i] += fmt.Sprint("$", i+1)
	}
	return strings.Join(parts, "")
}

// number returns what a query of one number finds.
func (b *base) number(query string, args ...any) (n int) {
	b.t.Helper()
	if err := b.db.QueryRowContext(b.t.Context(), dialect(b.kind, query), args...).Scan(&n); err != nil {
		b.t.Fatal(err)
	}
	return n
}

// applied returns how many effects there are, or none while the database is away. Messages that were applied twice count twice.
func (b *base) applied() (n int) {
	_ = b.db.QueryRowContext(b.t.Context(), "select sum(n) from counters").Scan(&n) // the database may be away
	return n
}

// lanes returns how many lanes were opened and written.
func (b *base) lanes() int {
	if b.kind == postgres {
		return b.number("select count(record) from postbag._lanes")
	}
	return b.number("select count(record) from postbag__lane")
}

// marked returns how many messages a handler has marked one by one.
func (b *base) marked() int {
	table := "postbag__once"
	if b.kind == postgres {
		table = "postbag._once"
	}
	return b.number("select count(*) from "+table+" where id > ? and id < ?", []byte("handled:"), []byte("handled;"))
}

// judge fails the test unless the checker finds one effect of each of n messages, and those of a subject in the sequence of the source, if it
// keeps one. Each must have counted those of its subject that were there before, and no other.
func (b *base) judge(n int, ordered bool) {
	b.t.Helper()
	promised := history.OnceEach
	if ordered {
		promised = history.OnceInOrder
	}
	judgeEffects(b.t, n, b.subjects, promised, b.effectsIn("select subject, number from effects order by subject, nth"))
	miscounted := b.number(`select count(*) from (
		select nth, row_number() over (partition by subject order by nth) as place from effects) as placed where nth <> place`)
	if counted := b.applied(); counted != n || miscounted > 0 {
		b.t.Errorf("the counters say %d, want %d; %d effects have counted wrongly", counted, n, miscounted)
	}
}
