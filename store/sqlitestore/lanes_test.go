package sqlitestore_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/postbag/postbag"
	"github.com/postbag/postbag/store"
)

func TestALaneWithoutItsTableIsAnOldSchema(t *testing.T) {
	t.Parallel()
	f := open(t)
	_, err := f.DB().ExecContext(t.Context(), "DROP TABLE postbag__lane")
	f.check(err)
	for what, use := range map[string]func(context.Context, postbag.SQLTx) error{
		"OpenLane": func(ctx context.Context, tx postbag.SQLTx) error {
			_, err := f.OpenLane(ctx, tx, "lane")
			return err
		},
		"WriteLane": func(ctx context.Context, tx postbag.SQLTx) error {
			return f.WriteLane(ctx, tx, "lane", 1, []byte("record"))
		},
	} {
		if err := f.InTx(t.Context(), use); !errors.Is(err, store.ErrSchema) || !strings.Contains(err.Error(), "postbag migrate up") {
			t.Errorf("%s: %v, not ErrSchema", what, err)
		}
	}
}

func TestALaneWhoseTableWasRestoredGivesNoEpochOutAgain(t *testing.T) {
	t.Parallel()
	f := open(t)
	enter := func() (now store.LaneState) {
		t.Helper()
		f.check(f.InTx(t.Context(), func(ctx context.Context, tx postbag.SQLTx) (err error) {
			now, err = f.OpenLane(ctx, tx, "lane")
			return err
		}))
		return now
	}
	write := func(epoch int64, record string) error {
		return f.InTx(t.Context(), func(ctx context.Context, tx postbag.SQLTx) error {
			return f.WriteLane(ctx, tx, "lane", epoch, []byte(record))
		})
	}
	run := func(statements string) {
		t.Helper()
		_, err := f.DB().ExecContext(t.Context(), statements)
		f.check(err)
	}
	old := enter()
	f.check(write(old.Epoch, "kept"))
	run("CREATE TABLE backup AS SELECT lane, epoch, record FROM postbag__lane")
	zombie := enter()
	f.check(write(zombie.Epoch, "lost"))
	run("DELETE FROM postbag__lane; INSERT INTO postbag__lane SELECT lane, epoch, record FROM backup")
	now := enter()
	if now.Epoch == old.Epoch || now.Epoch == zombie.Epoch || string(now.Record) != "kept" {
		t.Errorf("after %d and %d the lane has epoch %d and the record %q", old.Epoch, zombie.Epoch, now.Epoch, now.Record)
	}
	for _, epoch := range []int64{old.Epoch, zombie.Epoch} {
		if err := write(epoch, "zombie"); !errors.Is(err, store.ErrFenced) {
			t.Errorf("a write with epoch %d: %v, not ErrFenced", epoch, err)
		}
	}
}
