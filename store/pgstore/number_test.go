package pgstore_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/postbag/postbag"
	"github.com/postbag/postbag/store"
	"github.com/postbag/postbag/store/pgstore"
)

// byNumber makes a box by number, with its schema.
func byNumber(tb testing.TB) *fixture {
	tb.Helper()
	return newFixture(tb, withoutBox(tb), func(_ *pgxpool.Config, o *pgstore.Options) {
		o.Boxes, o.Slots = []string{"outbox"}, map[string]store.SlotRule{"outbox": store.SlotsByNumber}
	})
}

// placeOf returns the place of the last row.
func placeOf(tb testing.TB, f *fixture, table string) (place int) {
	tb.Helper()
	if err := f.plain.QueryRow(tb.Context(), "SELECT place FROM postbag."+table+" ORDER BY at DESC LIMIT 1").Scan(&place); err != nil {
		tb.Fatal(err)
	}
	return place
}

func TestPlainSQLGetsSlotsByNumberWhateverItSays(t *testing.T) {
	t.Parallel()
	f := byNumber(t)
	for _, table := range []string{"outbox (", "outbox__scheduled (due, "} {
		name, _, _ := strings.Cut(table, " ")
		due := ""
		if strings.Contains(table, "due") {
			due = "now() + interval '1 hour', "
		}
		for values, want := range map[string]int{
			"'5', NULL, NULL": 6, "'5', '-1', 17": 4096, "'5', '', 17": 6, "'a', '4096', 0": 1, "'100000000000000000000000000000000000000017', NULL, 1": 18,
		} {
			if _, err := f.plain.Exec(t.Context(), "INSERT INTO postbag."+table+"key, shard_key, place) VALUES ("+due+values+")"); err != nil {
				t.Fatalf("%s of %s: %v", values, table, err)
			}
			if got := placeOf(t, f, name); got != want {
				t.Errorf("%s of %s has the place %d, not %d", values, table, got, want)
			}
		}
		for _, values := range []string{"'a', NULL, NULL", "'5', 'a', 6", "E'5\\n', '', 1", "'-', '', 1"} {
			_, err := f.plain.Exec(t.Context(), "INSERT INTO postbag."+table+"key, shard_key, place) VALUES ("+due+values+")")
			if err == nil || !strings.Contains(err.Error(), "box outbox takes slots by number") {
				t.Errorf("%s of %s: %v", values, table, err)
			}
		}
	}
}

// A session of logical replication, and a restore, switch ordinary triggers off.
func TestASessionThatSwitchesTriggersOffGetsSlotsByNumber(t *testing.T) {
	t.Parallel()
	f := byNumber(t)
	tx, err := f.plain.Begin(t.Context())
	if err == nil {
		_, err = tx.Exec(t.Context(), "SET LOCAL session_replication_role = replica")
	}
	if err == nil {
		_, err = tx.Exec(t.Context(), "INSERT INTO postbag.outbox (key, place) VALUES ('5', 17)")
	}
	if err == nil {
		err = tx.Commit(t.Context())
	}
	if got := placeOf(t, f, "outbox"); err != nil || got != 6 {
		t.Errorf("the key 5 has the place %d, %v", got, err)
	}
}

func TestABoxByNumberWhoseTriggerIsOffIsRefused(t *testing.T) {
	t.Parallel()
	for _, table := range []string{"outbox", "outbox__scheduled", "outbox__p0"} {
		f := byNumber(t)
		if _, err := f.Check(t.Context()); err != nil {
			t.Fatal(err)
		}
		if _, err := f.plain.Exec(t.Context(), "ALTER TABLE postbag."+table+" DISABLE TRIGGER outbox__number"); err != nil {
			t.Fatal(err)
		}
		if _, err := f.Check(t.Context()); err == nil || !strings.Contains(err.Error(), "ALTER TABLE postbag."+table+" ENABLE ALWAYS TRIGGER outbox__number") {
			t.Errorf("without the trigger of %s: %v", table, err)
		}
	}
}

func TestALogByNumberThatWasDroppedIsMadeAgainByNumber(t *testing.T) {
	t.Parallel()
	f := byNumber(t)
	if _, err := f.plain.Exec(t.Context(), "DROP TABLE postbag.outbox"); err != nil {
		t.Fatal(err)
	}
	if err := f.CreateBoxBy(t.Context(), "outbox", ""); err != nil {
		t.Fatal(err)
	}
	if _, err := f.plain.Exec(t.Context(), "INSERT INTO postbag.outbox (key) VALUES ('5')"); err != nil {
		t.Fatal(err)
	}
	if got := placeOf(t, f, "outbox"); got != 6 {
		t.Errorf("the key 5 has the place %d", got)
	}
}

func TestOptionsNameARuleForSlots(t *testing.T) {
	t.Parallel()
	o := pgstore.Options{Slots: map[string]store.SlotRule{"outbox": "odd", "Bad Name": store.SlotsByHash}}
	err := o.Validate()
	if err == nil || !strings.Contains(err.Error(), `box "outbox"`) || !strings.Contains(err.Error(), `box "Bad Name"`) {
		t.Errorf("bad rules: %v", err)
	}
	if _, err := pgstore.Script(map[string]store.SlotRule{"outbox": "odd"}, "outbox"); err == nil {
		t.Error("a script by no rule was made")
	}
	if _, err := pgstore.Script(nil, "Bad Name"); err == nil {
		t.Error("a script of a box that cannot be was made")
	}
}

// A page reads what a box by number says, and tells no fault of it.
func TestABoxByNumberHasNoRowsWithAWrongSlot(t *testing.T) {
	t.Parallel()
	told := make(chan error, 10)
	f := newFixture(t, withoutBox(t), func(_ *pgxpool.Config, o *pgstore.Options) {
		o.Boxes, o.Slots = []string{"outbox"}, map[string]store.SlotRule{"outbox": store.SlotsByNumber}
		o.OnFault = func(err error) { told <- err }
	})
	ref := store.Ref{Box: "outbox", Subscription: "default"}
	if err := f.Declare(t.Context(), []store.Spec{{Ref: ref}}); err != nil {
		t.Fatal(err)
	}
	tx, err := f.plain.Begin(t.Context())
	if err == nil {
		err = errors.Join(f.Append(t.Context(), tx, "outbox", []postbag.Message{{ID: postbag.NewID(), Key: "5"}}), tx.Commit(t.Context()))
	}
	if err != nil {
		t.Fatal(err)
	}
	res, err := f.Turn(t.Context(), store.Turn{Read: []store.Request{{Ref: ref, Slots: []store.Slots{store.AllSlots}, Limit: 10, Bytes: 1 << 20}}})
	if err != nil || len(res.Batches[0].Records) != 1 || res.Batches[0].Records[0].Slot != 5 {
		t.Errorf("the key 5 comes as %+v, %v", res.Batches, err)
	}
	select {
	case err := <-told:
		t.Errorf("a fault is told: %v", err)
	default:
	}
}
