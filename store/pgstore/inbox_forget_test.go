package pgstore_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/postbag/postbag/store"
	"github.com/postbag/postbag/store/pgstore"
)

// fillMarks writes marks 1 to n of a consumer, each so old.
func (s *testBox) fillMarks(consumer string, n int, old time.Duration) {
	s.Helper()
	s.exec(`INSERT INTO postbag._once (consumer, id, at) SELECT $1, int8send(g), clock_timestamp() - $3::bigint * interval '1 microsecond'
		FROM generate_series(1, $2::integer) g`, consumer, n, old.Microseconds())
}

func (s *testBox) marksOf(consumer string) int64 {
	s.Helper()
	return s.number("SELECT count(*) FROM postbag._once WHERE consumer = $1", consumer)
}

// forgetAll forgets to the end.
func (s *testBox) forgetAll(f store.Forgetter) (total store.Forgotten) {
	s.Helper()
	s.Eventually("it has looked at all marks", func() bool {
		got, err := f.Forget(s.Context())
		s.Must(err)
		total.Looked, total.Removed = total.Looked+got.Looked, total.Removed+got.Removed
		return got.Done
	})
	return total
}

// More than a transaction removes, some to be kept among them.
func TestMarksWhoseTimeIsOverAreForgottenAndNoOthers(t *testing.T) {
	t.Parallel()
	s := newSQLSite(t, pgx.QueryExecModeCacheStatement)
	for name, f := range map[string]store.Forgetter{"pgx": s.Store, "database/sql": s.to} {
		s.exec("TRUNCATE postbag._once")
		s.Must(f.DeclareConsumer(t.Context(), "short", time.Hour))
		s.Must(f.DeclareConsumer(t.Context(), "short", time.Minute))
		s.Must(f.DeclareConsumer(t.Context(), "long", 100*24*time.Hour))
		s.fillMarks("long", 3000, 99*24*time.Hour)
		s.fillMarks("short", 12_000, time.Minute)
		s.fillMarks("undeclared", 3000, store.DefaultKeep-time.Hour)
		s.fillMarks("old", 7000, store.DefaultKeep)
		s.wantMarked("short", marksOf("now"), true)
		total := s.forgetAll(f)
		if total.Removed != 19_000 || total.Looked != 25_001 {
			t.Errorf("%s: it forgot %+v", name, total)
		}
		for consumer, want := range map[string]int64{"long": 3000, "short": 1, "undeclared": 3000, "old": 0} {
			if got := s.marksOf(consumer); got != want {
				t.Errorf("%s: %d marks of %s are left, not %d", name, got, consumer, want)
			}
		}
		if n := s.number("SELECT count(*) FROM postbag._forgetting WHERE done > clock_timestamp() - interval '1 minute' AND until = '-infinity'"); n != 1 {
			t.Errorf("%s: the end of the walk is not noted", name)
		}
	}
}

func TestAWalkThroughTheMarksGoesOnWhereItWas(t *testing.T) {
	t.Parallel()
	s := newTestBox(t)
	s.fillMarks("billing", 2000, 2*store.DefaultKeep)
	s.exec("UPDATE postbag._forgetting SET block = b.n, blocks = b.n + 1 FROM (SELECT max((ctid::text::point)[0])::bigint AS n FROM postbag._once) b")
	last := s.number("SELECT count(*) FROM postbag._once o, postbag._forgetting f WHERE (o.ctid::text::point)[0] = f.block")
	got, err := s.Forget(t.Context())
	if want := (store.Forgotten{Looked: last, Removed: last, Done: true}); err != nil || got != want {
		t.Errorf("the end of a walk removes %+v, not %+v: %v", got, want, err)
	}
	if total := s.forgetAll(s); total.Removed != 2000-last {
		t.Errorf("the next walk removes %+v", total)
	}
	if got, err := s.Forget(t.Context()); err != nil || got != (store.Forgotten{Done: true}) {
		t.Errorf("when nothing is left it forgets %+v: %v", got, err)
	}
	s.exec("TRUNCATE postbag._once")
	if got, err := s.Forget(t.Context()); err != nil || got != (store.Forgotten{Done: true}) {
		t.Errorf("without a block it forgets %+v: %v", got, err)
	}
	s.exec("UPDATE postbag._forgetting SET block = 7, blocks = 100000")
	if got, err := s.Forget(t.Context()); err != nil || got != (store.Forgotten{Done: true}) {
		t.Errorf("beyond the table's end it forgets %+v: %v", got, err)
	}
	s.exec("DELETE FROM postbag._forgetting")
	s.fillMarks("billing", 10, 2*store.DefaultKeep)
	if got, err := s.Forget(t.Context()); err != nil || got != (store.Forgotten{Looked: 10, Removed: 10, Done: true}) {
		t.Errorf("without its row it forgets %+v: %v", got, err)
	}
}

func TestOneWalksAtATime(t *testing.T) {
	t.Parallel()
	s := newTestBox(t)
	s.fillMarks("billing", 100, 2*store.DefaultKeep)
	busy := store.Forgotten{Busy: true}
	s.exec("UPDATE postbag._forgetting SET holder = 'another', until = clock_timestamp() + interval '8 seconds'")
	if got, err := s.Forget(t.Context()); err != nil || got != busy {
		t.Errorf("beside another it forgets %+v: %v", got, err)
	}
	for what, until := range map[string]string{"of a process that ended": "-1 second", "by a clock that was set back": "1 hour"} {
		s.exec("UPDATE postbag._forgetting SET holder = 'another', until = clock_timestamp() + $1::text::interval", until)
		if got, err := s.Forget(t.Context()); err != nil || got.Busy || !got.Done {
			t.Errorf("after the lease %s it forgets %+v: %v", what, got, err)
		}
	}
	tx := s.begin(pgx.ReadCommitted)
	_, err := tx.Exec(t.Context(), "SELECT FROM postbag._forgetting FOR UPDATE")
	s.Must(err)
	if got, err := s.Forget(t.Context()); err != nil || got != busy {
		t.Errorf("while the row is locked it forgets %+v: %v", got, err)
	}
	s.Must(tx.Rollback(t.Context()))
}

// Another takes over in the middle of a batch: what the batch removed is there again.
func TestAWalkThatWasTakenOverRemovesNothingMore(t *testing.T) {
	t.Parallel()
	s := newTestBox(t)
	s.fillMarks("billing", 100, 2*store.DefaultKeep)
	s.exec("CREATE FUNCTION overtake() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN UPDATE postbag._forgetting SET holder = 'another'; RETURN NULL; END $$")
	s.exec("CREATE TRIGGER overtake AFTER DELETE ON postbag._once FOR EACH STATEMENT WHEN (pg_trigger_depth() = 0) EXECUTE FUNCTION overtake()")
	if got, err := s.Forget(t.Context()); err != nil || got != (store.Forgotten{Busy: true}) {
		t.Errorf("it forgets %+v: %v", got, err)
	}
	if n := s.marksOf("billing"); n != 100 {
		t.Errorf("%d of 100 marks are left", n)
	}
}

func TestForgettingWaitsForNoLockOfAMark(t *testing.T) {
	t.Parallel()
	s := newTestBox(t)
	s.fillMarks("billing", 100, 2*store.DefaultKeep)
	tx := s.begin(pgx.ReadCommitted)
	_, err := tx.Exec(t.Context(), "SELECT FROM postbag._once WHERE id = int8send(7) FOR KEY SHARE")
	s.Must(err)
	if fresh, err := s.Mark(t.Context(), tx, "billing", marksOf("\x00\x00\x00\x00\x00\x00\x00\x08", "new")); err != nil || fresh[0] || !fresh[1] {
		t.Fatalf("marks are %v: %v", fresh, err)
	}
	if got := s.forgetAll(s); got.Removed != 99 {
		t.Errorf("beside a lock of one of 100 marks it forgets %+v", got)
	}
	s.Must(tx.Commit(t.Context()))
	if got := s.forgetAll(s); got != (store.Forgotten{Looked: 2, Removed: 1}) {
		t.Errorf("when the lock is gone it forgets %+v", got)
	}
}

func TestAForgetThatIsGivenUpGivesTheWalkBack(t *testing.T) {
	t.Parallel()
	s := newTestBox(t)
	s.fillMarks("billing", 100, 2*store.DefaultKeep)
	tx := s.begin(pgx.ReadCommitted)
	_, err := tx.Exec(t.Context(), "LOCK TABLE postbag._once IN EXCLUSIVE MODE") // of an owner: not even Forget passes it
	s.Must(err)
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() {
		_, err := s.Forget(ctx)
		done <- err
	}()
	s.Eventually("it waits", func() bool {
		return s.number("SELECT count(*) FROM pg_stat_activity WHERE datname = $1 AND wait_event_type = 'Lock'", s.name) == 1
	})
	cancel()
	if err := <-done; err == nil || !strings.Contains(err.Error(), context.Canceled.Error()) {
		t.Errorf("it ends with %v", err)
	}
	s.Must(tx.Rollback(t.Context()))
	if got, err := s.Forget(t.Context()); err != nil || got != (store.Forgotten{Looked: 100, Removed: 100, Done: true}) {
		t.Errorf("after that it forgets %+v: %v", got, err)
	}
}

func TestConsumersAreDeclaredAndListed(t *testing.T) {
	t.Parallel()
	s := newSQLSite(t, pgx.QueryExecModeSimpleProtocol)
	for i, name := range strangeNames {
		to := store.Forgetter(s.Store)
		if i%2 > 0 {
			to = s.to
		}
		s.Must(to.DeclareConsumer(t.Context(), name, time.Minute+time.Duration(i)*time.Microsecond+time.Nanosecond))
	}
	s.Must(s.DeclareConsumer(t.Context(), "ever", 1<<63-1))
	for _, f := range []store.Forgetter{s.Store, s.to} {
		got, err := f.Consumers(t.Context())
		s.Must(err)
		if len(got) != len(strangeNames)+1 {
			t.Fatalf("%d consumers are listed", len(got))
		}
		for i, c := range got {
			switch k := indexOf(strangeNames, c.Name); {
			case i > 0 && got[i-1].Name >= c.Name:
				t.Errorf("%q comes after %q", c.Name, got[i-1].Name)
			case c.Name == "ever":
				if c.Keep < 292*365*24*time.Hour {
					t.Errorf("the longest time is %s", c.Keep)
				}
			case k < 0 || c.Keep != time.Minute+time.Duration(k+1)*time.Microsecond:
				t.Errorf("%q keeps for %s", c.Name, c.Keep)
			}
		}
	}
	s.fillMarks("ever", 1, 100*365*24*time.Hour)
	if got := s.forgetAll(s); got.Removed != 0 {
		t.Errorf("of what is kept for ever it forgets %+v", got)
	}
	for name, keep := range map[string]time.Duration{"": time.Hour, strings.Repeat("é", 51): time.Hour, "\xff": time.Hour, "a\x00": time.Hour, "short": time.Minute - 1, "never": 0} {
		if err := s.DeclareConsumer(t.Context(), name, keep); err == nil || !strings.Contains(err.Error(), "declare consumer") {
			t.Errorf("%q for %s: %v", name, keep, err)
		}
	}
}

func indexOf(all []string, one string) int {
	for i := range all {
		if all[i] == one {
			return i
		}
	}
	return -1
}

// The times of others are those of the database's clock, and of the call, not of the transaction.
func TestTheTimeOfAMarkIsThatOfTheCall(t *testing.T) {
	t.Parallel()
	s := newTestBox(t)
	for _, marks := range [][]store.Mark{marksOf("a"), marksOf("b", "c")} {
		tx := s.begin(pgx.ReadCommitted)
		_, err := tx.Exec(t.Context(), "SELECT pg_sleep(0.05)")
		s.Must(err)
		_, err = s.Mark(t.Context(), tx, "billing", marks)
		s.Must(err)
		late := int64(0)
		s.Must(tx.QueryRow(t.Context(), "SELECT count(*) FROM postbag._once WHERE at > now() + interval '40 milliseconds' AND id = $1", []byte(marks[0].ID)).Scan(&late))
		if late != 1 {
			t.Errorf("the mark has the time of the beginning of its transaction")
		}
		s.Must(tx.Commit(t.Context()))
	}
}

func TestForgettingWithoutItsRightsIsRefused(t *testing.T) {
	t.Parallel()
	s := newSQLSite(t, pgx.QueryExecModeExec)
	s.Must(s.db.Close())
	if _, err := s.to.Forget(t.Context()); err == nil {
		t.Error("it forgets in a database that is closed")
	}
	role := s.name + "_c"
	c := s.role(role, pgstore.GrantConsumer(role))
	if _, err := c.Forget(t.Context()); err == nil || !strings.Contains(err.Error(), "GrantRelay") {
		t.Errorf("a consumer forgets: %v", err)
	}
}
