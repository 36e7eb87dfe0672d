package pgstore_test

import (
	"context"
	"errors"
	"net/url"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/postbag/postbag"
	"github.com/postbag/postbag/internal/boxtest"
	"github.com/postbag/postbag/store"
	"github.com/postbag/postbag/store/pgstore"
)

var outbox, upkeep = boxtest.Outbox, boxtest.Upkeep

// partSize is how many seqs a partition has.
const partSize = 32 * store.TallySpan

// testBox is a store with a box, in the hands of a test that is application, relay and housekeeper.
type testBox struct {
	testing.TB
	*boxtest.Driver
	*fixture
}

// newTestBox makes a box. Its messages are kept for a millisecond.
func newTestBox(tb testing.TB, change ...func(*pgxpool.Config, *pgstore.Options)) *testBox {
	tb.Helper()
	return testBoxOn(tb, migrated(tb), change...)
}

// migrated is a database with our schema and box outbox in it.
func migrated(tb testing.TB) string {
	tb.Helper()
	return shared.Copy(tb, "outbox", func(dsn string) error {
		ctx := context.Background() // others than this test work with the model, too
		pool, err := pgxpool.New(ctx, dsn)
		if err != nil {
			return err
		}
		defer pool.Close()
		s, err := pgstore.Open(ctx, pool, pgstore.Options{Create: true, Boxes: []string{}})
		if err != nil {
			return err
		}
		return errors.Join(s.CreateBox(ctx, "outbox"), s.Close())
	})
}

// withoutBox returns a database with the schema and no box.
func withoutBox(tb testing.TB) string {
	tb.Helper()
	return shared.Copy(tb, "schema", func(dsn string) error {
		ctx := context.Background() // as above
		pool, err := pgxpool.New(ctx, dsn)
		if err != nil {
			return err
		}
		defer pool.Close()
		s, err := pgstore.Open(ctx, pool, pgstore.Options{Create: true, Boxes: []string{}})
		if err != nil {
			return err
		}
		return s.Close()
	})
}

func testBoxOn(tb testing.TB, dsn string, change ...func(*pgxpool.Config, *pgstore.Options)) *testBox {
	tb.Helper()
	f := newFixture(tb, dsn, change...)
	if err := f.CreateBox(tb.Context(), "outbox"); err != nil {
		tb.Fatal(err)
	}
	return &testBox{TB: tb, Driver: boxtest.New(tb, f), fixture: f}
}

// on is the same box over another store of the same database.
func (s *testBox) on(f *fixture) *testBox {
	return &testBox{TB: s.TB, Driver: s.On(s.TB, f), fixture: f}
}

// publish commits msgs in one transaction.
func (s *testBox) publish(msgs ...postbag.Message) []postbag.Message {
	s.Helper()
	s.Must(s.InTx(s.Context(), func(ctx context.Context, tx pgx.Tx) error {
		return s.Append(ctx, tx, "outbox", msgs)
	}))
	return msgs
}

// burn has the next seq be the first of the next partition.
func (s *testBox) burn() {
	s.Helper()
	s.exec("SELECT setval('postbag.outbox__seq', (((last_value - 1) / $1) + 1) * $1) FROM postbag.outbox__seq", partSize)
}

func (s *testBox) exec(sql string, args ...any) {
	s.Helper()
	if _, err := s.plain.Exec(s.Context(), sql, args...); err != nil {
		s.Fatalf("%v: %s", err, sql)
	}
}

// number reads one number.
func (s *testBox) number(sql string, args ...any) (n int64) {
	s.Helper()
	if err := s.plain.QueryRow(s.Context(), sql, args...).Scan(&n); err != nil {
		s.Fatalf("%v: %s", err, sql)
	}
	return n
}

// rounds maintains several times, long enough for anything to be dropped that
// may.
func (s *testBox) rounds() {
	s.Helper()
	for range 5 {
		s.Housekeep()
		now := s.number("SELECT (extract(epoch FROM clock_timestamp()) * 1000000)::bigint")
		s.Eventually("the clock moves on", func() bool {
			return s.number("SELECT (extract(epoch FROM clock_timestamp()) * 1000000)::bigint") > now+2000
		})
	}
}

// rows counts what the log holds up to a seq.
func (s *testBox) rows(to int64) int64 {
	s.Helper()
	return s.number("SELECT count(*) FROM postbag.outbox WHERE seq <= $1", to)
}

// table says whether a table is there.
func (s *testBox) table(name string) bool {
	s.Helper()
	return s.number("SELECT count(*) FROM pg_class WHERE relname = $1 AND relnamespace = 'postbag'::regnamespace", name) > 0
}

// asRole returns a DSN with another role.
func asRole(tb testing.TB, dsn, role, password string) string {
	tb.Helper()
	u, err := url.Parse(dsn)
	if err != nil {
		tb.Fatal(err)
	}
	u.User = url.UserPassword(role, password)
	return u.String()
}

// withoutCreate opens what is there.
func withoutCreate(_ *pgxpool.Config, o *pgstore.Options) { *o = pgstore.Options{} }
