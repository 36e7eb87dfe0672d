package sqlitestore_test

import (
	"context"
	"database/sql"
	"errors"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/postbag/postbag"
	"github.com/postbag/postbag/store"
	"github.com/postbag/postbag/store/sqlitestore"
	"github.com/postbag/postbag/store/storetest"
)

func TestConformanceOfAStoreOnAPath(t *testing.T) {
	t.Parallel()
	conform(t, 40/sqlitestore.Slowness, func(tb testing.TB) (*sqlitestore.Store, string) {
		tb.Helper()
		path := filepath.Join(tb.TempDir(), "test.db")
		return openEmpty(tb, path), path
	})
}

func TestConformanceOfAStoreOverAnApplicationsDB(t *testing.T) {
	t.Parallel()
	conform(t, 8, func(tb testing.TB) (*sqlitestore.Store, string) {
		tb.Helper()
		path := filepath.Join(tb.TempDir(), "test.db")
		o := sqlitestore.Options{Create: true, Boxes: []string{}, BusyTimeout: patience}
		f, err := openOver(tb, openSQL(tb, path), o)
		if err != nil {
			tb.Fatal(err)
		}
		return f.Store, path
	})
}

// conform runs the suite with some rounds of its concurrent writers, which hold
// the one writer lock for a moment each.
func conform(t *testing.T, rounds int, open func(testing.TB) (*sqlitestore.Store, string)) {
	t.Helper()
	var version string
	if err := openSQL(t, filepath.Join(t.TempDir(), "version.db")).QueryRow("select sqlite_version()").Scan(&version); err != nil {
		t.Fatal(err)
	}
	storetest.Run(t, storetest.Harness[postbag.SQLTx]{
		On:       "SQLite " + version,
		Features: store.Features{Savepoints: true, OneGroup: true, Conditions: true, Editing: true, HeldTopics: true, DeadLetters: true, SlotRules: true},
		Rounds:   rounds,
		// The race detector makes the library, which was C once, very slow.
		LargeRows: 20_000 / sqlitestore.Slowness,
		Patience:  patience,
		New: func(tb testing.TB) *storetest.Database[postbag.SQLTx] {
			tb.Helper()
			s, path := open(tb)
			began, ahead := time.Now(), atomic.Int64{}
			clock := func() time.Time { return began.Add(time.Duration(ahead.Load())) }
			s.SetClock(clock) // it stands still unless the suite moves it on, however slow the machine is
			db := openSQL(tb, path)
			deferred := openDSN(tb, strings.Replace(sqlitestore.DSN(path), "_txlock=immediate", "_txlock=deferred", 1))
			return &storetest.Database[postbag.SQLTx]{
				Store: s,
				Second: func(tb testing.TB) store.Store {
					tb.Helper()
					second := openEmpty(tb, path)
					second.SetClock(clock)
					return second
				},
				Now:      clock,
				Advance:  func(d time.Duration) { ahead.Add(int64(d)) },
				Appender: s,
				Create:   s.CreateBox,
				Plain: func(ctx context.Context, tx postbag.SQLTx, box, topic string) error {
					_, err := tx.ExecContext(ctx, "INSERT INTO postbag_"+box+" (topic, payload) VALUES (?, '')", topic)
					return err
				},
				Begin:      func(ctx context.Context) (postbag.SQLTx, error) { return begin(ctx, db) },
				Commit:     func(_ context.Context, tx postbag.SQLTx) error { return tx.Commit() },
				Rollback:   func(_ context.Context, tx postbag.SQLTx) error { return tx.Rollback() },
				Savepoint:  named("SAVEPOINT "),
				RollbackTo: named("ROLLBACK TO "),
				Age: func(ctx context.Context, consumer string, by time.Duration) error {
					_, err := db.ExecContext(ctx, "UPDATE postbag__once SET at = at - ? WHERE consumer = ?", by.Microseconds(), []byte(consumer))
					return err
				},
				ChangeOperation: func(ctx context.Context, id store.OperationID, version int, earlier time.Duration) error {
					_, err := db.ExecContext(ctx, "UPDATE postbag__operation SET version = ?, touched = touched - ? WHERE id = ?", version, earlier.Microseconds(), int64(id))
					return err
				},
				AgeErrorNotes: func(ctx context.Context, box string, by time.Duration) error {
					us := by.Microseconds()
					_, err := db.ExecContext(ctx, "UPDATE postbag__error_note SET at = at - ?, seen = seen - ?, checked = checked - ? WHERE box = ?", us, us, us, box)
					return err
				},
				Snapshot: func(ctx context.Context) (postbag.SQLTx, error) { return snapshot(ctx, deferred) },
				Undecodable: func(ctx context.Context, box string) error {
					conn, err := db.Conn(ctx)
					if err != nil {
						return err
					}
					_, err = conn.ExecContext(ctx, `PRAGMA ignore_check_constraints = true; INSERT INTO postbag_`+box+
						` (topic, key, headers, payload) VALUES ('t', 'k', '{a:''b''}', 'p'); PRAGMA ignore_check_constraints = false`)
					return errors.Join(err, conn.Close())
				},
				Renumber: func(ctx context.Context, box string) error {
					_, err := db.ExecContext(ctx, "DELETE FROM postbag_"+box+"; UPDATE sqlite_sequence SET seq = 0 WHERE name = 'postbag_"+box+"'")
					return err
				},
				Burn: func(ctx context.Context, box string) error { return burn(ctx, s, box) },
			}
		},
	})
}

// begin begins an application's transaction. SQLite waits some seconds for the
// lock; a program that means to have many writers tries again.
func begin(ctx context.Context, db *sql.DB) (postbag.SQLTx, error) {
	for {
		tx, err := db.BeginTx(ctx, nil)
		switch {
		case err == nil:
			return tx, nil
		case ctx.Err() != nil:
			return nil, ctx.Err()
		case !strings.Contains(err.Error(), "SQLITE_BUSY"):
			return nil, err
		}
	}
}

// snapshot begins a transaction that has read, and has no lock.
func snapshot(ctx context.Context, db *sql.DB) (postbag.SQLTx, error) {
	tx, err := db.BeginTx(ctx, nil)
	if err == nil {
		err = tx.QueryRowContext(ctx, "SELECT count(*) FROM postbag__once").Scan(new(int))
	}
	return tx, err
}

func named(statement string) func(context.Context, postbag.SQLTx, string) error {
	return func(ctx context.Context, tx postbag.SQLTx, name string) error {
		_, err := tx.ExecContext(ctx, statement+`"`+name+`"`)
		return err
	}
}

// burn makes the next seq of a box begin another span of the ledger.
func burn(ctx context.Context, s *sqlitestore.Store, box string) error {
	return s.Exec(ctx, `UPDATE sqlite_sequence SET seq = (seq / ?2 + 1) * ?2 WHERE name = 'postbag_' || ?1`, box, store.TallySpan)
}

// patience is how long tests wait for what must happen.
const patience = 2 * time.Minute

// openEmpty opens a store without a box.
func openEmpty(tb testing.TB, path string) *sqlitestore.Store {
	tb.Helper()
	return openAt(tb, path, sqlitestore.Options{Create: true, Boxes: []string{}, BusyTimeout: patience}).Store
}

// openSQL opens the file as an application should.
func openSQL(tb testing.TB, path string) *sql.DB {
	tb.Helper()
	return openDSN(tb, sqlitestore.DSN(path))
}
