package mysqlstore_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/postbag/postbag"
	"github.com/postbag/postbag/store"
	"github.com/postbag/postbag/store/mysqlstore"
)

// applied marks n messages of a consumer, which is so long ago.
func (s *testBox) applied(consumer string, n int, ago time.Duration) {
	s.Helper()
	marks := make([]store.Mark, n)
	for i := range marks {
		marks[i].ID = store.MessageID(fmt.Sprintf("%s %06d", ago, i))
	}
	s.Must(s.InTx(s.Context(), func(ctx context.Context, tx postbag.SQLTx) error {
		_, err := s.Mark(ctx, tx, consumer, marks)
		return err
	}))
	s.exec("UPDATE postbag__once SET at = at - ? WHERE consumer = ? AND id LIKE ?", ago.Microseconds(), consumer, ago.String()+" %")
}

// forgotten calls Forget until it is done.
func (s *testBox) forgotten(f store.Forgetter) (all store.Forgotten) {
	s.Helper()
	for !all.Done {
		some, err := f.Forget(s.Context())
		s.Must(err)
		if some.Busy {
			s.Fatal("another process is at it")
		}
		all.Looked, all.Removed, all.Done = all.Looked+some.Looked, all.Removed+some.Removed, some.Done
	}
	return all
}

func TestOldMarksOfEachConsumerAreForgotten(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t *testing.T, k *kind) {
		t.Helper()
		s := newTestBox(t, k)
		d, _ := s.appenderOn("?clientFoundRows=true")
		for name, f := range map[string]store.Forgetter{"store": s, "appender": d} {
			if got := s.forgotten(f); got != (store.Forgotten{Done: true}) {
				t.Errorf("%s: of no marks %+v was done", name, got)
			}
			s.Must(f.DeclareConsumer(t.Context(), name+" short", time.Hour))
			s.Must(f.DeclareConsumer(t.Context(), name+" short", time.Minute))
			s.Must(f.DeclareConsumer(t.Context(), name+" long", 1000*time.Hour))
			for _, consumer := range []string{name + " long", name + " short", name + " unknown", name + " \xff"} {
				s.applied(consumer, 2500, 40*24*time.Hour)
				s.applied(consumer, 1500, 2*time.Minute)
				s.applied(consumer, 1000, 0)
			}
			got := s.forgotten(f)
			if got != (store.Forgotten{Looked: 20_000, Removed: 4000 + 2500 + 2500, Done: true}) {
				t.Errorf("%s: %+v was done", name, got)
			}
			for consumer, want := range map[string]int64{name + " long": 5000, name + " short": 1000, name + " unknown": 2500} {
				if n := s.number("SELECT COUNT(*) FROM postbag__once WHERE consumer = ?", consumer); n != want {
					t.Errorf("%d marks of %s are left, and not %d", n, consumer, want)
				}
			}
			s.exec("DELETE FROM postbag__once")
		}
		all, err := s.Consumers(t.Context())
		s.Must(err)
		if got := fmt.Sprint(all); got != "[{appender long 1000h0m0s} {appender short 1m0s} {store long 1000h0m0s} {store short 1m0s}]" {
			t.Errorf("declared are %s", got)
		}
		for _, bad := range []error{s.DeclareConsumer(t.Context(), "", time.Hour), s.DeclareConsumer(t.Context(), "c", time.Minute-1)} {
			if bad == nil {
				t.Error("it declares a consumer without a name, or one that keeps nothing")
			}
		}
	})
}

// What a consumer has locked stays, and is not waited for. What is being forgotten can be marked as soon as that is committed.
func TestForgettingWaitsForNoConsumer(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t *testing.T, k *kind) {
		t.Helper()
		s := newTestBox(t, k)
		s.applied("c", 1500, 40*24*time.Hour)
		for _, level := range levels {
			tx := s.begin(s.plain, level)
			s.marked(s, tx, once("960h0m0s 000007", "new"), false, true)
			defer tx.Rollback() //nolint:errcheck // nothing else is left of it
			began := time.Now()
			got := s.forgotten(s)
			if got.Removed != 1499 && level == levels[0] || time.Since(began) > 4*time.Second {
				t.Errorf("%s: %+v was done in %s", level, got, time.Since(began))
			}
			s.Must(tx.Rollback())
		}
		if got := s.forgotten(s); got.Removed != 1 {
			t.Errorf("of what was locked %+v was done", got)
		}
	})
}

func TestOneForgetsAtATimeAndALaterOneGoesOn(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t *testing.T, k *kind) {
		t.Helper()
		s := newTestBox(t, k)
		s.applied("c", 10, 40*24*time.Hour)
		s.exec("UPDATE postbag__forgetting SET token = 7, expires = TIMESTAMPDIFF(MICROSECOND, '1970-01-01', UTC_TIMESTAMP(6)) + 5000000")
		if got, err := s.Forget(t.Context()); err != nil || got != (store.Forgotten{Busy: true}) {
			t.Errorf("beside another one it does %+v (error: %v)", got, err)
		}
		// One that has ended in the middle, and one of before the clock was set back.
		for _, expires := range []string{"1", "9000000000000000"} {
			s.exec("UPDATE postbag__forgetting SET consumer = 'c', id = '960h0m0s 000003', expires = " + expires)
			if got := s.forgotten(s); got.Looked != 6 {
				t.Errorf("in its place %+v was done", got)
			}
			s.applied("c", 10, 41*24*time.Hour)
			s.exec("DELETE FROM postbag__once")
			s.applied("c", 10, 40*24*time.Hour)
		}
		if expires := s.number("SELECT expires FROM postbag__forgetting"); expires != 0 {
			t.Errorf("it keeps others out until %d", expires)
		}
		s.exec("DELETE FROM postbag__forgetting")
		if _, err := s.Forget(t.Context()); !errors.Is(err, store.ErrSchema) {
			t.Errorf("without its row it says %v", err)
		}
	})
}

// A call that another one has replaced, since it was too slow, removes nothing more.
func TestACallThatWasReplacedRemovesNothing(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t *testing.T, k *kind) {
		t.Helper()
		s := newTestBox(t, k)
		s.applied("c", 10, 40*24*time.Hour)
		s.exec("CREATE TRIGGER hurry BEFORE UPDATE ON postbag__forgetting FOR EACH ROW SET NEW.token = IF(NEW.token = OLD.token, OLD.token + 1, NEW.token)")
		if got, err := s.Forget(t.Context()); err != nil || got.Removed != 0 {
			t.Errorf("it does %+v (error: %v)", got, err)
		}
	})
}

func TestAConsumerWithTheRightsPrintedMarksAndCanChangeNoMark(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t *testing.T, k *kind) {
		t.Helper()
		s := newTestBox(t, k)
		s.applied("other", 2, time.Hour)
		grants := func(account string, _ ...string) (string, error) { return mysqlstore.GrantConsumer(account), nil }
		db := openSQL(t, s.granted(k, grants))
		d, err := mysqlstore.OpenAppender(t.Context(), db, mysqlstore.AppenderOptions{})
		s.Must(err)
		for _, isNew := range []bool{true, false} {
			tx := s.begin(db, sql.LevelDefault)
			s.marked(d, tx, []store.Mark{{ID: "a", Sum: sumOf("one")}, {ID: "b"}}, isNew, isNew)
			s.Must(tx.Commit())
		}
		if k.oracle {
			s.denied(t, db, "UPDATE postbag__once SET id = 'x'", "UPDATE postbag__once SET consumer = 'x' WHERE consumer = 'other'", "UPDATE postbag__once SET `sum` = NULL")
		}
		s.denied(t, db,
			"DELETE FROM postbag__once", "DELETE FROM postbag__once WHERE consumer = 'other'", "TRUNCATE postbag__once", "UPDATE postbag__once SET at = 1",
			"INSERT INTO postbag__once (consumer, id, at) VALUES ('other', 'x', 1)", "INSERT INTO postbag__once (consumer, id, repeats) VALUES ('other', 'x', 1)",
			"REPLACE INTO postbag__once (consumer, id) VALUES ('other', '1h0m0s 000000')", "UPDATE postbag__once SET repeats = -1", "LOCK TABLES postbag__once WRITE",
			"SELECT at FROM postbag__once", "INSERT INTO postbag__consumer (name, keep) VALUES ('other', 60000000)", "SELECT keep FROM postbag__consumer",
			"UPDATE postbag__forgetting SET expires = 9000000000000000", "SELECT payload FROM postbag_outbox", "INSERT INTO postbag_outbox (topic, payload) VALUES ('t', '')",
			"UPDATE postbag__meta SET epoch = epoch + 1",
		)
		if err := d.DeclareConsumer(t.Context(), "other", time.Hour); err == nil {
			t.Error("a consumer says for how long the marks of others are kept")
		}
		// The one thing that it may change makes nothing new.
		for _, repeats := range []string{"0", "1", "4294967295", "2000000000"} {
			_, err := db.ExecContext(t.Context(), "UPDATE postbag__once SET repeats = "+repeats)
			s.Must(err)
			s.Must(s.InTx(t.Context(), func(ctx context.Context, tx postbag.SQLTx) error {
				fresh, err := s.Mark(ctx, tx, "other", once("1h0m0s 000000", "1h0m0s 000001"))
				if err == nil && (fresh[0] || fresh[1]) {
					t.Errorf("with repeats %s what was applied is new", repeats)
				}
				return err
			}))
		}
	})
}

func TestAnInboxIsAddedToADatabaseOfAnOlderVersion(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t *testing.T, k *kind) {
		t.Helper()
		s := newTestBox(t, k)
		s.exec("DROP TABLE postbag__once, postbag__consumer, postbag__forgetting")
		tx := s.begin(s.plain, sql.LevelDefault)
		if _, err := s.Mark(t.Context(), tx, "c", once("a")); !errors.Is(err, store.ErrSchema) {
			t.Errorf("without the tables it says %v", err)
		}
		s.Must(tx.Rollback())
		s.exec("UPDATE postbag__meta SET version = 7")
		owner, err := mysqlstore.Open(t.Context(), s.account(k, "SELECT, INSERT, UPDATE, DELETE, CREATE, ALTER, INDEX, REFERENCES, CREATE ROUTINE, ALTER ROUTINE ON *"), mysqlstore.Options{Unmigrated: true})
		s.Must(err)
		for range 2 {
			done, err := owner.Migrate(t.Context())
			s.Must(err)
			if got := strings.Join(done, " "); !strings.HasPrefix(got, "0008_inbox 0009_cancel") {
				t.Errorf("it takes the steps %q", got)
			}
			s.exec("UPDATE postbag__meta SET version = 7") // as if it had been cut off before its end
		}
		s.Must(owner.Close())
		s.exec("UPDATE postbag__meta SET version = 9")
		tx = s.begin(s.plain, sql.LevelDefault)
		s.marked(s, tx, once("a"), true)
		s.Must(tx.Commit())
		s.forgotten(s)
	})
}

// In a session without strict mode a value that is too long is refused, too, and not cut short.
func TestAMarkThatWasMadeInSQLIsHeldToTheSameRules(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t *testing.T, k *kind) {
		t.Helper()
		s := newTestBox(t, k)
		conn, err := s.plain.Conn(t.Context())
		s.Must(err)
		defer conn.Close() //nolint:errcheck // the pool is closed with the test
		_, err = conn.ExecContext(t.Context(), "SET SESSION sql_mode = ''")
		s.Must(err)
		const insert = "INSERT INTO postbag__once (consumer, id, `sum`) VALUES "
		const again = " ON DUPLICATE KEY UPDATE repeats = MOD(repeats, 2000000000) + 1"
		for _, values := range []string{
			"('', 'x', NULL)", "('c', '', NULL)", "(REPEAT('c', 101), 'x', NULL)", "(REPEAT('c', 500), 'x', NULL)", "('c', REPEAT('x', 256), NULL)",
			"('c', REPEAT('x', 500), NULL)", "('c', 'x', '')", "('c', 'x', REPEAT('s', 33))", "('c', 'x', REPEAT('s', 31))",
		} {
			if _, err := conn.ExecContext(t.Context(), insert+values+again); err == nil {
				t.Errorf("it takes %s", values)
			}
		}
		for _, want := range []int64{1, 2, 2} {
			result, err := conn.ExecContext(t.Context(), insert+"('c', 'x', NULL)"+again)
			s.Must(err)
			if n, _ := result.RowsAffected(); n != want {
				t.Errorf("%d rows are said to be affected, and not %d", n, want)
			}
		}
		tx := s.begin(s.plain, sql.LevelDefault)
		s.marked(s, tx, once("x", "y"), false, true)
		s.Must(tx.Rollback())
	})
}
