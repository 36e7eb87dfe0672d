package mysqlstore_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/postbag/postbag"
	"github.com/postbag/postbag/store"
	"github.com/postbag/postbag/store/mysqlstore"
)

// The server ends a transaction at a deadlock, and takes the next statements as a new one. ROLLBACK leaves a session as that does.
func TestATransactionThatTheServerRolledBackDoesNotKeepItsLane(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t *testing.T, k *kind) {
		t.Helper()
		const lane = "billing/postbag/inbox/default/0"
		s := newTestBox(t, k)
		for _, level := range levels {
			tx := s.begin(s.plain, level)
			now, err := s.OpenLane(t.Context(), tx, lane)
			s.Must(err)
			s.Must(tx.Commit())
			tx = s.begin(s.plain, level)
			s.Must(s.WriteLane(t.Context(), tx, lane, now.Epoch, []byte(level.String())))
			s.Must(s.KeepsLane(t.Context(), tx, lane, now.Epoch, []byte(level.String())))
			_, err = tx.ExecContext(t.Context(), "ROLLBACK")
			s.Must(err)
			if err := s.KeepsLane(t.Context(), tx, lane, now.Epoch, []byte(level.String())); !errors.Is(err, store.ErrAgain) || !s.RunAgain(err) {
				t.Errorf("%s: after a rollback of the server: %v, not ErrAgain", level, err)
			}
			s.Must(tx.Rollback())
		}
	})
}

// lanesFail fails the test unless opening, writing and reading a lane has this error, and says what to do.
func lanesFail(t *testing.T, d *mysqlstore.Appender, want error, says string) {
	t.Helper()
	for what, use := range map[string]func(context.Context, postbag.SQLTx) error{
		"OpenLane": func(ctx context.Context, tx postbag.SQLTx) error {
			_, err := d.OpenLane(ctx, tx, "lane")
			return err
		},
		"WriteLane": func(ctx context.Context, tx postbag.SQLTx) error { return d.WriteLane(ctx, tx, "lane", 1, []byte("r")) },
		"KeepsLane": func(ctx context.Context, tx postbag.SQLTx) error { return d.KeepsLane(ctx, tx, "lane", 1, []byte("r")) },
	} {
		if err := d.InTx(t.Context(), use); !errors.Is(err, want) || !strings.Contains(err.Error(), says) {
			t.Errorf("%s: %v, not %v with %q", what, err, want, says)
		}
	}
}

func TestALaneWithoutItsTableIsAnOldSchema(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t *testing.T, k *kind) {
		t.Helper()
		s := newTestBox(t, k)
		d, err := mysqlstore.OpenAppender(t.Context(), s.plain, mysqlstore.AppenderOptions{})
		s.Must(err)
		s.exec("DROP TABLE postbag__lane")
		lanesFail(t, d, store.ErrSchema, "postbag migrate up")
	})
}

func TestALaneThatTheAccountMayNotWriteIsDeniedAndTheErrorSaysWhichGrantHelps(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t *testing.T, k *kind) {
		t.Helper()
		s := newTestBox(t, k)
		d, err := mysqlstore.OpenAppender(t.Context(), openSQL(t, s.granted(k, mysqlstore.GrantProducer)), mysqlstore.AppenderOptions{})
		s.Must(err)
		lanesFail(t, d, store.ErrDenied, "GRANT SELECT, INSERT, UPDATE ON postbag__lane")
	})
}

func TestALaneWhoseTableWasRestoredGivesNoEpochOutAgain(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t *testing.T, k *kind) {
		t.Helper()
		s := newTestBox(t, k)
		open := func() (now store.LaneState) {
			t.Helper()
			s.Must(s.InTx(t.Context(), func(ctx context.Context, tx postbag.SQLTx) (err error) {
				now, err = s.OpenLane(ctx, tx, "lane")
				return err
			}))
			return now
		}
		write := func(epoch int64, record string) error {
			return s.InTx(t.Context(), func(ctx context.Context, tx postbag.SQLTx) error {
				return s.WriteLane(ctx, tx, "lane", epoch, []byte(record))
			})
		}
		old := open()
		s.Must(write(old.Epoch, "kept"))
		s.exec("CREATE TABLE backup (PRIMARY KEY (lane)) AS SELECT lane, epoch, writes, record FROM postbag__lane")
		zombie := open()
		s.Must(write(zombie.Epoch, "lost"))
		s.exec("DELETE FROM postbag__lane")
		s.exec("INSERT INTO postbag__lane (lane, epoch, writes, record) SELECT lane, epoch, writes, record FROM backup")
		now := open()
		if now.Epoch == old.Epoch || now.Epoch == zombie.Epoch || string(now.Record) != "kept" {
			t.Errorf("after %d and %d the lane has epoch %d and the record %q", old.Epoch, zombie.Epoch, now.Epoch, now.Record)
		}
		for _, epoch := range []int64{old.Epoch, zombie.Epoch} {
			if err := write(epoch, "zombie"); !errors.Is(err, store.ErrFenced) {
				t.Errorf("a write with epoch %d: %v, not ErrFenced", epoch, err)
			}
		}
	})
}
