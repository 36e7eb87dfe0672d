package sqlitestore_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/postbag/postbag/store"
	"github.com/postbag/postbag/store/sqlitestore"
)

func TestMigrateRunsByManyAtOnceAndAgain(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "test.db")
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			s, err := sqlitestore.Open(t.Context(), path, sqlitestore.Options{Create: true, BusyTimeout: patience})
			if err != nil {
				t.Error(err)
				return
			}
			if _, err := s.Check(t.Context()); err != nil {
				t.Error(err)
			}
			if err := s.Close(); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	f := openAt(t, path, sqlitestore.Options{})
	if steps, err := f.Migrate(t.Context()); err != nil || len(steps) != 0 {
		t.Errorf("migrating again took the steps %v (error: %v)", steps, err)
	}
	if version, steps, err := f.Pending(t.Context()); err != nil || version != 19 || len(steps) != 0 {
		t.Errorf("pending after all are taken: version %d, steps %v, error %v", version, steps, err)
	}
}

func TestASchemaOfAnotherVersionIsRefused(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]string{
		"older":            `UPDATE postbag__meta SET version = 0`,
		"for newer ones":   `UPDATE postbag__meta SET version = 999, reader = 999`,
		"without its meta": `DELETE FROM postbag__meta`,
	} {
		f := open(t)
		f.check(f.Exec(t.Context(), change))
		if _, err := f.Check(t.Context()); !errors.Is(err, store.ErrSchema) {
			t.Errorf("Check of a schema %s: %v, want ErrSchema", name, err)
		}
		s, err := sqlitestore.Open(t.Context(), f.path, sqlitestore.Options{})
		if err == nil {
			err = s.Close()
		}
		if !errors.Is(err, store.ErrSchema) {
			t.Errorf("opening a schema %s: %v, want ErrSchema", name, err)
		}
	}
}

func TestASchemaThatIsNewerButReadableIsTaken(t *testing.T) {
	t.Parallel()
	f := open(t)
	f.check(f.Exec(t.Context(), `UPDATE postbag__meta SET version = version + 1`))
	if _, err := f.Check(t.Context()); err != nil {
		t.Error(err)
	}
}

func TestALogThatLostItsLastRowsIsReadAgain(t *testing.T) {
	t.Parallel()
	f := open(t)
	lease := f.lease(outbox)
	sent := messages(10, "k")
	f.publish(sent...)
	batch := f.read("", 10)
	f.settle(&lease, store.Settlement{To: batch.At(7), Park: []store.Park{
		{Seq: 2, Slot: batch.Records[1].Slot, Hash: batch.Records[1].Hash, State: store.ParkRetrying, Blocking: true},
	}})
	// An older copy of the table is put in the place of the box's.
	for _, statement := range []string{
		`DELETE FROM postbag_outbox WHERE seq > 4`,
		`UPDATE sqlite_sequence SET seq = 4 WHERE name = 'postbag_outbox'`,
	} {
		f.check(f.Exec(t.Context(), statement))
	}
	if _, err := f.Check(t.Context()); !errors.Is(err, store.ErrMoved) {
		t.Fatalf("Check returned %v, want ErrMoved", err)
	}
	if _, err := f.Check(t.Context()); err != nil {
		t.Fatalf("Check after that: %v", err)
	}
	if v := f.turn(store.Turn{Settle: []store.Settlement{{Lease: lease, To: batch.Next}}}).Verdicts[0]; v.Applied {
		t.Error("a settlement of before was applied")
	}
	f.publish(messages(1, "new")...)
	shard := f.take("r2", outbox)[0]
	got := f.readAll(shard.Position)
	if len(got) != 5 || got[0].ID != sent[0].ID || got[4].Key != "new" || got[4].Seq <= 8 {
		t.Fatalf("from the new position come %d messages: %v", len(got), got)
	}
	if due, err := f.Due(t.Context(), due(10)); err != nil || len(due) != 0 {
		t.Errorf("%d parked messages are left of before (error: %v)", len(due), err)
	}
	entries, err := f.Audited(t.Context(), 10)
	if err != nil || len(entries) != 1 || !strings.Contains(entries[0].What, "outbox/default") {
		t.Errorf("the audit log says %v (error: %v)", entries, err)
	}
}

func due(limit int) store.Due {
	return store.Due{Ref: outbox, Slots: []store.Slots{store.AllSlots}, Limit: limit, Bytes: 1 << 20, Followers: 10}
}

func TestAnotherDatabaseUnderTheSamePathIsNoticed(t *testing.T) {
	t.Parallel()
	f := open(t)
	_, err := f.Check(t.Context())
	f.check(err)
	f.check(f.Exec(t.Context(), `UPDATE postbag__meta SET identity = 'another'`))
	if _, err := f.Beat(t.Context(), beat("r1")); !errors.Is(err, store.ErrMoved) {
		t.Errorf("Beat returned %v, want ErrMoved", err)
	}
	turn := store.Turn{Read: []store.Request{request("", 1)}}
	if _, err := f.Turn(t.Context(), turn); !errors.Is(err, store.ErrMoved) {
		t.Errorf("Turn returned %v, want ErrMoved", err)
	}
	if info, err := f.Check(t.Context()); !errors.Is(err, store.ErrMoved) || info.Identity != "another" {
		t.Errorf("Check returned %v", err)
	}
	if _, err := f.Turn(t.Context(), turn); err != nil {
		t.Errorf("after Check: %v", err)
	}
}

func TestACopyOfTheFileContinuesOnItsOwn(t *testing.T) {
	t.Parallel()
	f := open(t)
	lease := f.lease(outbox)
	f.publish(messages(10, "k")...)
	f.settle(&lease, store.Settlement{To: f.read("", 6).Next})
	path := filepath.Join(t.TempDir(), "copy.db")
	f.check(f.Exec(t.Context(), `VACUUM INTO ?`, path))
	if _, err := os.Stat(path); err != nil {
		t.Fatal(err)
	}
	restored := openAt(t, path, sqlitestore.Options{})
	if _, err := restored.Check(t.Context()); err != nil {
		t.Fatal(err)
	}
	view, err := restored.Beat(context.WithoutCancel(t.Context()), beat("r2"))
	f.check(err)
	if got := restored.readAll(view.Subscriptions[0].Shards[0].Position); len(got) != 4 || got[0].Seq != 7 {
		t.Fatalf("from the copy's position come %d messages", len(got))
	}
}
