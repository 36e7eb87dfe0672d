package pgstore_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/postbag/postbag"
	"github.com/postbag/postbag/store"
	"github.com/postbag/postbag/store/pgstore"
)

// lanesFail fails the test unless opening and writing a lane, with both drivers, has this error, and says what to do.
func lanesFail(t *testing.T, f *fixture, want error, says ...string) {
	t.Helper()
	to, err := pgstore.OpenAppender(t.Context(), sqlOf(t, f.dsn, func(*pgx.ConnConfig) {}), pgstore.AppenderOptions{})
	if err != nil {
		t.Fatal(err)
	}
	inTx := func(fn func(context.Context, pgx.Tx) error) error { return f.InTx(t.Context(), fn) }
	inSQL := func(fn func(context.Context, postbag.SQLTx) error) error { return to.InTx(t.Context(), fn) }
	for what, err := range map[string]error{
		"OpenLane": inTx(func(ctx context.Context, tx pgx.Tx) error {
			_, err := f.OpenLane(ctx, tx, "lane")
			return err
		}),
		"WriteLane": inTx(func(ctx context.Context, tx pgx.Tx) error { return f.WriteLane(ctx, tx, "lane", 1, []byte("record")) }),
		"OpenLane of an appender": inSQL(func(ctx context.Context, tx postbag.SQLTx) error {
			_, err := to.OpenLane(ctx, tx, "lane")
			return err
		}),
		"WriteLane of an appender": inSQL(func(ctx context.Context, tx postbag.SQLTx) error {
			return to.WriteLane(ctx, tx, "lane", 1, []byte("record"))
		}),
	} {
		if !errors.Is(err, want) {
			t.Errorf("%s: %v, not %v", what, err, want)
			continue
		}
		for _, text := range says {
			if !strings.Contains(err.Error(), text) {
				t.Errorf("%s does not say %q: %v", what, text, err)
			}
		}
	}
}

func TestALaneWithoutItsTableIsAnOldSchema(t *testing.T) {
	t.Parallel()
	s := newTestBox(t)
	s.exec("DROP TABLE postbag._lanes")
	lanesFail(t, s.fixture, store.ErrSchema, "postbag._lanes is missing", "postbag migrate up")
}

func TestALaneThatTheRoleMayNotWriteIsDeniedAndTheErrorSaysWhichGrantHelps(t *testing.T) {
	t.Parallel()
	s := newTestBox(t)
	role := s.name + "_l"
	f := s.role(role, "GRANT USAGE ON SCHEMA postbag TO "+role+"; GRANT SELECT ON postbag._meta, postbag._migrations TO "+role)
	lanesFail(t, f, store.ErrDenied, "permission denied", "postbag grants ROLE --for consumer", "GRANT SELECT, INSERT (lane, epoch), UPDATE (epoch, record) ON postbag._lanes")
}

func TestALaneWhoseTableWasRestoredGivesNoEpochOutAgain(t *testing.T) {
	t.Parallel()
	s := newTestBox(t)
	open := func() (now store.LaneState) {
		t.Helper()
		s.Must(s.InTx(t.Context(), func(ctx context.Context, tx pgx.Tx) (err error) {
			now, err = s.OpenLane(ctx, tx, "lane")
			return err
		}))
		return now
	}
	write := func(epoch int64, record string) error {
		return s.InTx(t.Context(), func(ctx context.Context, tx pgx.Tx) error {
			return s.WriteLane(ctx, tx, "lane", epoch, []byte(record))
		})
	}
	old := open()
	s.Must(write(old.Epoch, "kept"))
	s.exec("CREATE TABLE backup AS SELECT lane, epoch, record FROM postbag._lanes")
	zombie := open()
	s.Must(write(zombie.Epoch, "lost"))
	s.exec("DELETE FROM postbag._lanes; INSERT INTO postbag._lanes SELECT lane, epoch, record FROM backup")
	now := open()
	if now.Epoch == old.Epoch || now.Epoch == zombie.Epoch || string(now.Record) != "kept" {
		t.Errorf("after %d and %d the lane has epoch %d and the record %q", old.Epoch, zombie.Epoch, now.Epoch, now.Record)
	}
	for _, epoch := range []int64{old.Epoch, zombie.Epoch} {
		if err := write(epoch, "zombie"); !errors.Is(err, store.ErrFenced) {
			t.Errorf("a write with epoch %d: %v, not ErrFenced", epoch, err)
		}
	}
}

// tries runs a test with both drivers. run runs a statement in the transaction.
func tries(t *testing.T, s *testBox, test func(t *testing.T, run func(statement string) error, try func(statements ...string) (failed, broken error))) {
	t.Helper()
	to, err := pgstore.OpenAppender(t.Context(), sqlOf(t, s.dsn, func(*pgx.ConnConfig) {}), pgstore.AppenderOptions{})
	s.Must(err)
	each := func(run func(string) error, statements []string) func(context.Context) error {
		return func(context.Context) error {
			for _, statement := range statements {
				if err := run(statement); err != nil {
					return err
				}
			}
			return nil
		}
	}
	t.Run("pgx", func(t *testing.T) {
		s.Must(s.InTx(t.Context(), func(ctx context.Context, tx pgx.Tx) error {
			run := func(statement string) error {
				_, err := tx.Exec(ctx, statement)
				return err
			}
			test(t, run, func(statements ...string) (failed, broken error) { return s.Try(ctx, tx, each(run, statements)) })
			return nil
		}))
	})
	t.Run("database/sql", func(t *testing.T) {
		s.Must(to.InTx(t.Context(), func(ctx context.Context, tx postbag.SQLTx) error {
			run := func(statement string) error {
				_, err := tx.ExecContext(ctx, statement)
				return err
			}
			test(t, run, func(statements ...string) (failed, broken error) { return to.Try(ctx, tx, each(run, statements)) })
			return nil
		}))
	})
}

func TestABrokenConstraintThatWaitsForTheCommitIsFoundBehindTheMessageThatBrokeIt(t *testing.T) {
	t.Parallel()
	s := newTestBox(t)
	s.exec("CREATE TABLE paid (n int UNIQUE DEFERRABLE INITIALLY DEFERRED, twice bool)")
	tries(t, s, func(t *testing.T, run func(string) error, try func(...string) (failed, broken error)) {
		s.Must(run("DELETE FROM paid"))
		for _, insert := range []string{"INSERT INTO paid VALUES (1)", "INSERT INTO paid VALUES (2)"} {
			if failed, broken := try(insert); failed != nil || broken != nil {
				t.Errorf("%s: %v, %v", insert, failed, broken)
			}
		}
		failed, broken := try("INSERT INTO paid VALUES (3)", "INSERT INTO paid VALUES (2)")
		if failed == nil || broken != nil || !strings.Contains(failed.Error(), "paid_n_key") {
			t.Errorf("a second 2: %v, %v; want an error that names the constraint, and a transaction that goes on", failed, broken)
		}
		// The constraint still waits for the commit.
		s.Must(run("INSERT INTO paid VALUES (1, true)"))
		s.Must(run("UPDATE paid SET n = 4 WHERE twice"))
	})
	if n := s.number("SELECT count(*) * 100 + sum(n) FROM paid"); n != 307 {
		t.Errorf("count and sum are %d, want 307: 1, 2 and 4", n)
	}
}
