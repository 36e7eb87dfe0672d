package pgstore_test

import (
	"context"
	"database/sql"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/stdlib"

	"github.com/postbag/postbag"
	"github.com/postbag/postbag/internal/testserver"
	"github.com/postbag/postbag/internal/testserver/servertest"
	"github.com/postbag/postbag/store"
	"github.com/postbag/postbag/store/pgstore"
	"github.com/postbag/postbag/store/storetest"
)

func TestConformance(t *testing.T) {
	t.Parallel()
	version, _, _ := strings.Cut(shared.Server(t).Version(), " (Debian")
	storetest.Run(t, storetest.Harness[pgx.Tx]{
		On: "PostgreSQL " + strings.TrimPrefix(version, "postgres (PostgreSQL) "), Features: pgstore.Features(), New: newDatabase,
	})
}

// The inbox cases, in transactions of database/sql.
func TestConformanceOfTheInboxInDatabaseSQL(t *testing.T) {
	t.Parallel()
	storetest.RunInbox(t, storetest.Harness[postbag.SQLTx]{
		On: "PostgreSQL, database/sql", Features: store.Features{ConcurrentWriters: true}, New: newSQLDatabase,
	})
}

func newSQLDatabase(tb testing.TB) *storetest.Database[postbag.SQLTx] {
	tb.Helper()
	f := newFixture(tb, migrated(tb))
	config, err := pgx.ParseConfig(f.dsn)
	if err != nil {
		tb.Fatal(err)
	}
	db := stdlib.OpenDB(*config)
	tb.Cleanup(func() { _ = db.Close() })
	to, err := pgstore.OpenAppender(tb.Context(), db, pgstore.AppenderOptions{})
	if err != nil {
		tb.Fatal(err)
	}
	begin := func(ctx context.Context, o *sql.TxOptions) (postbag.SQLTx, error) {
		tx, err := db.BeginTx(context.WithoutCancel(ctx), o)
		return textsAndBytes{tx}, err
	}
	return &storetest.Database[postbag.SQLTx]{
		Store: f.Store, Appender: to, Inbox: to, Age: f.age,
		Begin:    func(ctx context.Context) (postbag.SQLTx, error) { return begin(ctx, nil) },
		Commit:   func(_ context.Context, tx postbag.SQLTx) error { return tx.Commit() },
		Rollback: func(_ context.Context, tx postbag.SQLTx) error { return tx.Rollback() },
		Snapshot: func(ctx context.Context) (postbag.SQLTx, error) {
			tx, err := begin(ctx, &sql.TxOptions{Isolation: sql.LevelRepeatableRead})
			if err == nil {
				_, err = tx.ExecContext(ctx, "SELECT count(*) FROM postbag._once")
			}
			return tx, err
		},
	}
}

// age makes marks older.
func (f *fixture) age(ctx context.Context, consumer string, by time.Duration) error {
	_, err := f.plain.Exec(ctx, "UPDATE postbag._once SET at = at - $2::bigint * interval '1 microsecond' WHERE consumer = $1", consumer, by.Microseconds())
	return err
}

// newDatabase opens a database of its own for a case; one that ends the server
// gets a server of its own.
func newDatabase(tb testing.TB) *storetest.Database[pgx.Tx] {
	tb.Helper()
	if strings.Contains(tb.Name(), "crash") {
		pg := servertest.Postgres(tb, testserver.PostgresOptions{NoSync: true, Settings: settings})
		db, f := databaseOn(tb, pg.DSN("postgres"))
		db.Crash = func(ctx context.Context) error {
			if err := pg.Kill(ctx); err != nil {
				return err
			}
			err := pg.Start(ctx)
			f.plain.Reset()
			return err
		}
		return db
	}
	if strings.Contains(tb.Name(), "by_number") || strings.Contains(tb.Name(), "rule_for_slots") {
		db, _ := databaseOn(tb, withoutBox(tb)) // these cases make another one
		return db
	}
	db, _ := databaseOn(tb, migrated(tb))
	return db
}

func databaseOn(tb testing.TB, dsn string) (*storetest.Database[pgx.Tx], *fixture) {
	tb.Helper()
	f := newFixture(tb, dsn)
	exec := func(ctx context.Context, tx pgx.Tx, sql string) error {
		_, err := tx.Exec(ctx, sql)
		return err
	}
	do := func(ctx context.Context, sql string) error {
		_, err := f.plain.Exec(ctx, sql)
		return err
	}
	return &storetest.Database[pgx.Tx]{
		Store:    f.Store,
		Second:   func(tb testing.TB) store.Store { return newFixture(tb, dsn).Store },
		Appender: f.Store,
		Create:   f.CreateBox,
		Plain: func(ctx context.Context, tx pgx.Tx, box, topic string) error {
			_, err := tx.Exec(ctx, "INSERT INTO postbag."+box+" (topic, payload) VALUES ($1, '')", topic)
			return err
		},
		Age: f.age,
		ChangeOperation: func(ctx context.Context, id store.OperationID, version int, earlier time.Duration) error {
			_, err := f.plain.Exec(ctx, "UPDATE postbag._operations SET revision = revision + 1, version = $2, touched = touched - $3 WHERE id = $1", int64(id), version, earlier.Microseconds())
			return err
		},
		AgeErrorNotes: func(ctx context.Context, box string, by time.Duration) error {
			_, err := f.plain.Exec(ctx, "UPDATE postbag._error_notes SET at = at - $2, seen = seen - $2, checked = checked - $2 WHERE box = $1", box, by.Microseconds())
			return err
		},
		Snapshot: func(ctx context.Context) (pgx.Tx, error) {
			tx, err := f.plain.BeginTx(ctx, pgx.TxOptions{IsoLevel: pgx.RepeatableRead})
			if err == nil {
				_, err = tx.Exec(ctx, "SELECT count(*) FROM postbag._once")
			}
			return tx, err
		},
		Begin:  f.plain.Begin,
		Commit: func(ctx context.Context, tx pgx.Tx) error { return tx.Commit(ctx) },
		Rollback: func(ctx context.Context, tx pgx.Tx) error {
			gone := tx.Conn().IsClosed() // a context ended in the middle of a statement: pgx gives the session up
			if err := tx.Rollback(ctx); !gone {
				return err
			}
			return nil
		},
		Savepoint: func(ctx context.Context, tx pgx.Tx, name string) error { return exec(ctx, tx, `SAVEPOINT "`+name+`"`) },
		RollbackTo: func(ctx context.Context, tx pgx.Tx, name string) error {
			return exec(ctx, tx, `ROLLBACK TO SAVEPOINT "`+name+`"`)
		},
		Prepare: func(ctx context.Context, tx pgx.Tx, name string) error {
			if err := exec(ctx, tx, "PREPARE TRANSACTION '"+name+f.name+"'"); err != nil {
				return err
			}
			return tx.Rollback(ctx) // it is not in this session any more
		},
		CommitPrepared:   func(ctx context.Context, name string) error { return do(ctx, "COMMIT PREPARED '"+name+f.name+"'") },
		RollbackPrepared: func(ctx context.Context, name string) error { return do(ctx, "ROLLBACK PREPARED '"+name+f.name+"'") },
		Stranger:         f.stranger,
		CutAnswer:        f.cut.arm,
		Undecodable: func(ctx context.Context, box string) error {
			if err := do(ctx, "ALTER DOMAIN postbag.headers DROP CONSTRAINT headers_are_flat"); err != nil {
				return err
			}
			return do(ctx, "INSERT INTO postbag."+box+" (topic, key, headers) VALUES ('orders', 'deep', ('{\"a\":' || repeat('[', 11000) || repeat(']', 11000) || '}')::json)")
		},
		Renumber: func(ctx context.Context, box string) error {
			return do(ctx, "TRUNCATE postbag."+box+" RESTART IDENTITY")
		},
		Burn: func(ctx context.Context, box string) error {
			return do(ctx, "SELECT setval('postbag."+box+"__seq', (((last_value - 1) / 1048576) + 1) * 1048576) FROM postbag."+box+"__seq")
		},
	}, f
}
