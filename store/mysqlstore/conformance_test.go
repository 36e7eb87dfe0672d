package mysqlstore_test

import (
	"context"
	"database/sql"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/postbag/postbag"
	"github.com/postbag/postbag/internal/testserver/servertest"
	"github.com/postbag/postbag/store"
	"github.com/postbag/postbag/store/mysqlstore"
	"github.com/postbag/postbag/store/storetest"
)

func TestConformance(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t *testing.T, k *kind) {
		t.Helper()
		storetest.Run(t, storetest.Harness[postbag.SQLTx]{
			On:       k.name + " " + versionOf(t, k),
			Features: mysqlstore.Features(),
			New:      func(tb testing.TB) *storetest.Database[postbag.SQLTx] { tb.Helper(); return newDatabase(tb, k) },
			Patience: patience,
		})
	})
}

// TestConformanceOfPartitionedBoxes runs the suite where every box has partitions, of a
// second each.
func TestConformanceOfPartitionedBoxes(t *testing.T) {
	t.Parallel()
	if !servertest.Full() {
		t.Skip("POSTBAG_FULL is not set: boxes without partitions are tried alone")
	}
	onBoth(t, func(t *testing.T, k *kind) {
		t.Helper()
		storetest.Run(t, storetest.Harness[postbag.SQLTx]{
			On:       k.name + " " + versionOf(t, k) + " with partitions",
			Features: mysqlstore.Features(),
			New: func(tb testing.TB) *storetest.Database[postbag.SQLTx] {
				tb.Helper()
				return newDatabase(tb, k, divided)
			},
			Patience: patience,
		})
	})
}

// TestConformanceOfAnAppendersInbox runs the cases of the inbox over the application's own pool.
func TestConformanceOfAnAppendersInbox(t *testing.T) {
	t.Parallel()
	if !servertest.Full() {
		t.Skip("POSTBAG_FULL is not set: the inbox is tried over a store's own pool alone")
	}
	onBoth(t, func(t *testing.T, k *kind) {
		t.Helper()
		storetest.RunInbox(t, storetest.Harness[postbag.SQLTx]{
			On:       k.name + " " + versionOf(t, k) + ", over an application's pool",
			Features: mysqlstore.Features(),
			New: func(tb testing.TB) *storetest.Database[postbag.SQLTx] {
				tb.Helper()
				dsn := k.pooled(tb)
				db := harnessOn(tb, dsn)
				d, err := mysqlstore.OpenAppender(tb.Context(), openSQL(tb, dsn+"?clientFoundRows=true"), mysqlstore.AppenderOptions{})
				if err != nil {
					tb.Fatal(err)
				}
				db.Inbox = d
				return db
			},
			Patience: patience,
		})
	})
}

// versionOf is the version that the server says it is.
func versionOf(t *testing.T, k *kind) (version string) {
	t.Helper()
	k.server(t)
	if err := k.admin.QueryRowContext(t.Context(), "SELECT VERSION()").Scan(&version); err != nil {
		t.Fatal(err)
	}
	version, _, _ = strings.Cut(version, "-")
	return version
}

// newDatabase opens a database of its own for a case; one that ends the server
// gets a server of its own.
func newDatabase(tb testing.TB, k *kind, change ...func(*mysqlstore.Options)) *storetest.Database[postbag.SQLTx] {
	tb.Helper()
	if !strings.Contains(tb.Name(), "crash") {
		return harnessOn(tb, k.pooled(tb), change...)
	}
	m := k.private(tb)
	db := harnessOn(tb, databaseOn(tb, m, "crashing"), change...)
	db.Crash = func(ctx context.Context) error {
		if err := m.Kill(ctx); err != nil {
			return err
		}
		return m.Start(ctx)
	}
	return db
}

func harnessOn(tb testing.TB, dsn string, change ...func(*mysqlstore.Options)) *storetest.Database[postbag.SQLTx] {
	tb.Helper()
	f := newFixture(tb, dsn, change...)
	distributed := strings.Contains(tb.Name(), "prepared") || strings.Contains(tb.Name(), "any_writers")
	// In MySQL, and not in MariaDB, a transaction that rolls back to a savepoint in
	// REPEATABLE READ keeps a lock on the end of the table, on which every other
	// INSERT waits: the server's own doing, which the writers here would meet.
	level := sql.LevelDefault
	if strings.Contains(tb.Name(), "/MySQL/Many_writers") {
		level = sql.LevelReadCommitted
	}
	var names sync.Map
	prepared := func(order string) func(context.Context, string) error {
		return func(ctx context.Context, name string) error {
			tx, _ := names.Load(name)
			xa, _ := tx.(*xaTx)
			return xa.endPrepared(ctx, f.plain, order)
		}
	}
	named := func(order string) func(context.Context, postbag.SQLTx, string) error {
		return func(ctx context.Context, tx postbag.SQLTx, name string) error {
			_, err := tx.ExecContext(ctx, order+" `"+name+"`")
			return err
		}
	}
	return &storetest.Database[postbag.SQLTx]{
		Store:    f.Store,
		Second:   func(tb testing.TB) store.Store { tb.Helper(); return newFixture(tb, dsn).Store },
		Appender: f.Store,
		Create:   f.CreateBox,
		Plain: func(ctx context.Context, tx postbag.SQLTx, box, topic string) error {
			_, err := tx.ExecContext(ctx, "INSERT INTO postbag_"+box+" (topic, payload) VALUES (?, '')", topic)
			return err
		},
		Begin: func(ctx context.Context) (postbag.SQLTx, error) {
			if distributed {
				return beginXA(ctx, f.plain, level)
			}
			return f.plain.BeginTx(ctx, &sql.TxOptions{Isolation: level})
		},
		Commit:     func(_ context.Context, tx postbag.SQLTx) error { return tx.Commit() },
		Rollback:   func(_ context.Context, tx postbag.SQLTx) error { return rollBack(tx) },
		Savepoint:  named("SAVEPOINT"),
		RollbackTo: named("ROLLBACK TO SAVEPOINT"),
		Prepare: func(_ context.Context, tx postbag.SQLTx, name string) error {
			xa, _ := tx.(*xaTx)
			names.Store(name, xa)
			return xa.prepare()
		},
		CommitPrepared:   prepared("XA COMMIT"),
		RollbackPrepared: prepared("XA ROLLBACK"),
		Stranger:         f.stranger,
		CutAnswer:        f.cut.arm,
		Age: func(ctx context.Context, consumer string, by time.Duration) error {
			_, err := f.plain.ExecContext(ctx, "UPDATE postbag__once SET at = at - ? WHERE consumer = ?", by.Microseconds(), consumer)
			return err
		},
		ChangeOperation: func(ctx context.Context, id store.OperationID, version int, earlier time.Duration) error {
			_, err := f.plain.ExecContext(ctx, "UPDATE postbag__operation SET version = ?, touched = touched - ? WHERE id = ?", version, earlier.Microseconds(), int64(id))
			return err
		},
		AgeErrorNotes: func(ctx context.Context, box string, by time.Duration) error {
			us := by.Microseconds()
			_, err := f.plain.ExecContext(ctx, "UPDATE postbag__error_note SET at = at - ?, seen = seen - ?, checked = checked - ? WHERE box = ?", us, us, us, box)
			return err
		},
		Snapshot: func(ctx context.Context) (postbag.SQLTx, error) {
			tx, err := f.plain.BeginTx(ctx, &sql.TxOptions{Isolation: sql.LevelRepeatableRead})
			if err == nil {
				_, err = tx.ExecContext(ctx, "DO (SELECT COUNT(*) FROM postbag__consumer)")
			}
			return tx, err
		},
		Undecodable: func(ctx context.Context, box string) error {
			_, err := f.plain.ExecContext(ctx, "INSERT INTO postbag_"+box+" (topic, `key`, payload) VALUES ('t', x'ff01', 'p')")
			return err
		},
		Renumber: func(ctx context.Context, box string) error {
			_, err := f.plain.ExecContext(ctx, "TRUNCATE TABLE postbag_"+box)
			return err
		},
	}
}
