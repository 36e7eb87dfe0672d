package sqlitestore_test

import (
	"errors"
	"path/filepath"
	"strings"
	"testing"

	"github.com/postbag/postbag/store"
	"github.com/postbag/postbag/store/sqlitestore"
)

// byNumber makes a file with a box by number.
func byNumber(tb testing.TB) *fixture {
	tb.Helper()
	f := openAt(tb, filepath.Join(tb.TempDir(), "test.db"), sqlitestore.Options{
		Create: true, Slots: map[string]store.SlotRule{"outbox": store.SlotsByNumber},
	})
	f.declare(store.Spec{Ref: outbox})
	return f
}

func TestPlainSQLGetsSlotsByNumber(t *testing.T) {
	t.Parallel()
	f := byNumber(t)
	db := openDSN(t, sqlitestore.DSN(f.path))
	want := []int{5, 4095, 0, 17}
	for _, values := range []string{"'5', ''", "'a', '-1'", "'4096', ''", "'100000000000000000000000000000000000000017', ''"} {
		if _, err := db.ExecContext(t.Context(), "INSERT INTO postbag_outbox (payload, key, shard_key) VALUES (x'', "+values+")"); err != nil {
			t.Fatalf("%s: %v", values, err)
		}
	}
	res, err := f.Turn(t.Context(), store.Turn{Read: []store.Request{{Ref: outbox, Slots: []store.Slots{store.AllSlots}, Limit: 10, Bytes: 1 << 20}}})
	if err != nil || len(res.Batches[0].Records) != len(want) {
		t.Fatalf("%+v, %v", res.Batches, err)
	}
	for i, r := range res.Batches[0].Records {
		if r.Slot != want[i] {
			t.Errorf("the key %s is in slot %d, not %d", r.Key, r.Slot, want[i])
		}
	}
	for _, values := range []string{"'a', ''", "'5', 'a'", "'-', ''", "'5' || char(10), ''", "'+5', ''"} {
		_, err := db.ExecContext(t.Context(), "INSERT INTO postbag_outbox (payload, key, shard_key) VALUES (x'', "+values+")")
		if err == nil || !strings.Contains(err.Error(), "decimal integer") {
			t.Errorf("the log takes %s: %v", values, err)
		}
		_, err = db.ExecContext(t.Context(), "INSERT INTO postbag__scheduled (box, due, id, at, topic, type, payload, key, shard_key) VALUES ('outbox', 1, randomblob(16), 1, 't', '', x'', "+values+")")
		if err == nil || !strings.Contains(err.Error(), "takes slots by number") {
			t.Errorf("%s is scheduled: %v", values, err)
		}
	}
}

// A program that does not know boxes by number would compute other slots as it reads.
func TestProgramsThatDoNotKnowABoxByNumberAreKeptAway(t *testing.T) {
	t.Parallel()
	f := open(t)
	db := openDSN(t, sqlitestore.DSN(f.path))
	reader := func() (version, reader int) {
		if err := db.QueryRowContext(t.Context(), "SELECT version, reader FROM postbag__meta").Scan(&version, &reader); err != nil {
			t.Fatal(err)
		}
		return version, reader
	}
	if version, oldest := reader(); oldest == version {
		t.Fatalf("with boxes by hash programs need version %d", oldest)
	}
	f.check(f.CreateBoxBy(t.Context(), "numbers", store.SlotsByNumber))
	version, oldest := reader()
	if oldest != version {
		t.Errorf("with a box by number programs need version %d, not %d", oldest, version)
	}
	openAt(t, f.path, sqlitestore.Options{})
	if _, err := db.ExecContext(t.Context(), "UPDATE postbag__meta SET version = version + 1, reader = reader + 1"); err != nil {
		t.Fatal(err)
	}
	if s, err := sqlitestore.Open(t.Context(), f.path, sqlitestore.Options{}); !errors.Is(err, store.ErrSchema) {
		t.Errorf("a file that needs a newer program is opened: %v, %v", s, err)
	}
}

func TestAScriptMakesABoxByNumber(t *testing.T) {
	t.Parallel()
	steps, err := sqlitestore.Script(map[string]store.SlotRule{"outbox": store.SlotsByNumber}, "outbox", "plain")
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "test.db")
	db := openDSN(t, sqlitestore.DSN(path))
	for _, step := range steps {
		if _, err := db.ExecContext(t.Context(), step.SQL); err != nil {
			t.Fatalf("%s: %v", step.Name, err)
		}
	}
	f := openAt(t, path, sqlitestore.Options{})
	for box, want := range map[string]store.SlotRule{"outbox": store.SlotsByNumber, "plain": store.SlotsByHash} {
		if got, err := f.SlotRule(t.Context(), box); err != nil || got != want {
			t.Errorf("box %s has slots by %q, %v", box, got, err)
		}
	}
	if _, err := sqlitestore.Script(map[string]store.SlotRule{"outbox": "odd"}, "outbox"); err == nil {
		t.Error("a script by no rule was made")
	}
}
