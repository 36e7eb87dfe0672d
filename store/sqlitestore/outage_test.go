package sqlitestore_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/postbag/postbag"
	"github.com/postbag/postbag/internal/effectstest"
	"github.com/postbag/postbag/internal/testserver/servertest"
	"github.com/postbag/postbag/store/sqlitestore"
)

// bounded is a store whose file cannot grow while it is full: SQLite says so of a page that it is to add.
type bounded struct {
	effectstest.Store[postbag.SQLTx]

	full atomic.Bool
}

func (b *bounded) InTx(ctx context.Context, fn func(context.Context, postbag.SQLTx) error) error {
	return b.Store.InTx(ctx, func(ctx context.Context, tx postbag.SQLTx) error {
		most := "1073741823"
		if b.full.Load() {
			most = "1" // what it has
		}
		if _, err := tx.ExecContext(ctx, "PRAGMA max_page_count = "+most); err != nil {
			return err
		}
		return fn(ctx, tx)
	})
}

// Outage is that of a store.
func (*bounded) Outage(err error) bool { return (*sqlitestore.Store)(nil).Outage(err) }

// effects has a handler write numbers to a table, each with as much as a page holds.
func (f *fixture) effects(says string) effectstest.Outage[postbag.SQLTx] {
	f.Helper()
	db := openSQL(f, f.path)
	_, err := db.ExecContext(f.Context(), "CREATE TABLE effect (n INTEGER NOT NULL, rest TEXT NOT NULL)")
	f.check(err)
	return effectstest.Outage[postbag.SQLTx]{
		Write: func(ctx context.Context, tx postbag.SQLTx, n int) error {
			_, err := tx.ExecContext(ctx, "INSERT INTO effect VALUES (?, ?)", n, strings.Repeat("x", 100_000))
			return err
		},
		Written: func() (all []int) {
			var text string
			f.check(db.QueryRowContext(context.Background(), "SELECT coalesce(group_concat(n, ' '), '') FROM effect").Scan(&text))
			for word := range strings.FieldsSeq(text) {
				n, err := strconv.Atoi(word)
				f.check(err)
				all = append(all, n)
			}
			return all
		},
		Says: says,
	}
}

func TestAFileThatCannotGrowCountsNoAttemptOfAHandler(t *testing.T) {
	t.Parallel()
	effectstest.RunOutage(t, func(t *testing.T) effectstest.Outage[postbag.SQLTx] {
		t.Helper()
		f := open(t)
		o := f.effects("database or disk is full")
		s := &bounded{Store: f.Store}
		o.Store, o.Fail, o.Work = s, func() { s.full.Store(true) }, func() { s.full.Store(false) }
		return o
	})
}

// The commit is what does not find room in the write-ahead log: the handler has returned nil.
func TestAFullDiskCountsNoAttemptOfAHandler(t *testing.T) {
	t.Parallel()
	effectstest.RunOutage(t, func(t *testing.T) effectstest.Outage[postbag.SQLTx] {
		t.Helper()
		disk := servertest.Tmpfs(t, 16<<20)
		f := openAt(t, filepath.Join(disk.Dir(), "test.db"), sqlitestore.Options{Create: true})
		o := f.effects("disk")
		o.Store = f.Store
		var room func(context.Context) error
		o.Fail = func() {
			var err error
			room, err = disk.Full(t.Context())
			f.check(err)
		}
		o.Work = func() { f.check(room(t.Context())) }
		return o
	})
}

// codeError is an error of another library, or of the application.
type codeError struct {
	error

	code int
}

func (e codeError) Code() int     { return e.code }
func (e codeError) Unwrap() error { return e.error }

func TestAnErrorOfTheDatabaseItselfIsAnOutage(t *testing.T) {
	t.Parallel()
	f := open(t)
	garbage := filepath.Join(t.TempDir(), "garbage.db")
	f.check(os.WriteFile(garbage, bytes.Repeat([]byte("no database "), 1000), 0o600))
	conn, err := openSQL(t, f.path).Conn(t.Context())
	f.check(err)
	defer conn.Close() //nolint:errcheck // the pool is closed with the test
	run := func(texts ...string) (err error) {
		for _, text := range texts {
			_, err = conn.ExecContext(t.Context(), text)
		}
		return err // the last one
	}
	for _, text := range []string{
		"CREATE TABLE account (id INTEGER PRIMARY KEY, rest BLOB)", "INSERT INTO account VALUES (1, NULL)",
		"CREATE VIRTUAL TABLE words USING fts5(text)", "INSERT INTO words (text) VALUES ('one two three')", "DELETE FROM words_content",
	} {
		f.check(run(text))
	}
	full := run("PRAGMA max_page_count = 1", "INSERT INTO account VALUES (2, zeroblob(1000000))")
	f.check(run("PRAGMA max_page_count = 1073741823"))
	readOnly := run("PRAGMA query_only = 1", "INSERT INTO account VALUES (2, NULL)")
	f.check(run("PRAGMA query_only = 0"))
	for what, c := range map[string]struct {
		err  error
		want bool
	}{
		"a file that cannot grow":             {full, true},
		"a database that takes no writes":     {readOnly, true},
		"a file that cannot be opened":        {run("ATTACH '/no/such/folder/here.db' AS other"), false},
		"a file that is no database":          {run("ATTACH '" + garbage + "' AS other"), false},
		"an index that does not fit its rows": {run("INSERT INTO words (words) VALUES ('integrity-check')"), false},
		"a duplicate key":                     {run("INSERT INTO account VALUES (1, NULL)"), false},
		"a mistake":                           {run("INSERT"), false},
		"another library's error":             {codeError{errors.New("not found"), 13}, false},
		"a full file in another error":        {codeError{full, 500}, true},
	} {
		if c.err == nil {
			t.Errorf("%s is no error", what)
		}
		err := fmt.Errorf("charge: %w", c.err)
		if (*sqlitestore.Store)(nil).Outage(err) != c.want || (*sqlitestore.Appender)(nil).Outage(err) != c.want {
			t.Errorf("%s (%v) is an outage: %v", what, err, !c.want)
		}
	}
	if (*sqlitestore.Store)(nil).Outage(nil) {
		t.Error("nil is an outage")
	}
}
