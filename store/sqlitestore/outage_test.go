package sqlitestore_test

import (
	"context"
	"fmt"
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

// codeError is an error of SQLite's driver.
type codeError int

func (e codeError) Error() string { return fmt.Sprintf("result code %d", int(e)) }
func (e codeError) Code() int     { return int(e) }

func TestAnErrorOfTheDatabaseItselfIsAnOutage(t *testing.T) {
	t.Parallel()
	for code, want := range map[codeError]bool{
		7: true, 8: true, 10: true, 10 | 3<<8: true, 11: true, 13: true, 14: true, 26: true,
		1: false, 5: false, 6: false, 18: false, 19: false, 20: false,
	} {
		err := fmt.Errorf("charge: %w", code)
		if (*sqlitestore.Store)(nil).Outage(err) != want || (*sqlitestore.Appender)(nil).Outage(err) != want {
			t.Errorf("code %d is an outage: %v", code, !want)
		}
	}
	if (*sqlitestore.Store)(nil).Outage(nil) {
		t.Error("nil is an outage")
	}
}
