package sqlitestore_test

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/postbag/postbag/store"
	"github.com/postbag/postbag/store/sqlitestore"
)

// One that the box's constraints refuse is set aside, and stays there to be seen.
func TestAScheduledRowThatBreaksTheConstraintsHoldsUpNoOther(t *testing.T) {
	t.Parallel()
	f := open(t).upkeep()
	const schedule = "INSERT INTO postbag__scheduled (box, due, id, at, topic, key, shard_key, type, headers, payload) VALUES ('outbox', "
	bad := []string{
		"0, x'11111111111111111111111111111111', 0, 't', 'a' || char(0), '', '', NULL, 'p')",
		"1, zeroblob(16), 0, 't', 'a', '', '', NULL, 'p')",
		"3, x'22222222222222222222222222222222', 0, 't', 'a', '', '', '[]', 'p')",
		"4, x'33333333333333333333333333333333', 0, 't', 'a', '', '', '{', 'p')",
		"5, x'44444444444444444444444444444444', 0, 't' || char(0), 'a', '', '', NULL, 'p')",
	}
	run := func(text string, args ...any) {
		_, err := f.DB().ExecContext(t.Context(), text, args...)
		f.check(err)
	}
	for _, row := range bad {
		run(schedule + row)
	}
	good := messages(2, "a")
	for i, m := range good {
		run(schedule+"?, ?, 0, 't', 'a', '', '', NULL, 'p')", 2+10*i, m.ID[:])
	}
	report := f.maintain(0)
	if report.Promoted != 2 || len(report.Faults) != 1 || !strings.Contains(report.Faults[0], "5 scheduled messages of box outbox are set aside") {
		t.Errorf("%d are promoted, and housekeeping says %q", report.Promoted, report.Faults)
	}
	if got := f.readAll(""); len(got) != 2 || got[0].ID != good[0].ID || got[1].ID != good[1].ID {
		t.Errorf("the log has %v", got)
	}
	items, _, err := f.List(t.Context(), store.Query{Ref: outbox, State: store.StateScheduled})
	if err != nil || len(items) != len(bad) {
		t.Errorf("of %d that were set aside %d are shown (error: %v)", len(bad), len(items), err)
	}
	if report := f.maintain(0); len(report.Faults) != 0 {
		t.Errorf("it is said again: %q", report.Faults)
	}
}

// A plain INSERT can name a box that does not exist. Nobody maintains that one: another box's housekeeping says so.
func TestAMessageThatIsScheduledForNoBoxIsReported(t *testing.T) {
	t.Parallel()
	f := open(t).upkeep()
	for _, box := range []string{"'nobox'", "'nobox'", "''", "'outbox'", "x'ff'"} {
		_, err := f.DB().ExecContext(t.Context(), "INSERT INTO postbag__scheduled (id, due, at, topic, key, shard_key, type, payload, box) "+
			"VALUES (x'11111111111111111111111111111111', 1, 0, 't', 'a', '', '', 'p', "+box+")")
		f.check(err)
	}
	const names = `"", "nobox", "\xff"`
	for range 3 {
		if report := f.maintain(0); len(report.Faults) != 1 || !strings.Contains(report.Faults[0], "never sent: "+names+";") {
			t.Errorf("housekeeping says %q", report.Faults)
		}
	}
	o, err := f.Overview(t.Context())
	if err != nil || len(o.Boxes[0].Notices) != 1 || !strings.Contains(o.Boxes[0].Notices[0].What, names) {
		t.Errorf("the overview shows %+v (error: %v)", o.Boxes, err)
	}
}

// An empty topic and times that are none are refused where they are written, and what was written before is brought along.
func TestAScheduleRefusesWhatNoBoxCouldTake(t *testing.T) {
	t.Parallel()
	f := openAt(t, filepath.Join(t.TempDir(), "old.db"), sqlitestore.Options{Create: true, Unmigrated: true})
	_, steps, err := f.Pending(t.Context())
	f.check(err)
	run := func(text string, args ...any) error {
		_, err := f.DB().ExecContext(t.Context(), text, args...)
		return err
	}
	const schedule = "INSERT INTO postbag__scheduled (box, due, at, topic, id, key, shard_key, type, payload) VALUES ('outbox', "
	bad := map[string]string{
		"1, 0, ''": "no topic", "-1, 0, 't'": "before 1970", "9223372036854775806, 0, 't'": "after 9999", "9e999, 0, 't'": "infinity",
		"-9e999, 0, 't'": "minus infinity", "'soon', 0, 't'": "a word", "1, -1, 't'": "stored before 1970", "1, 9e999, 't'": "stored at infinity",
	}
	rest := ", zeroblob(16), 'k', '', '', 'p')"
	for _, step := range steps[:3] {
		f.check(run(step.SQL))
	}
	for values := range bad {
		f.check(run(schedule + values + rest))
	}
	_, err = f.Migrate(t.Context())
	f.check(err)
	for values, name := range bad {
		if err := run(schedule + values + rest); err == nil {
			t.Errorf("%s: it is taken", name)
		}
	}
	var all, aside, due, named int
	f.check(f.DB().QueryRowContext(t.Context(), `SELECT count(*), sum(due = 9223372036854775807), sum(due <= 1),
		sum(topic = 'outbox') FROM postbag__scheduled`).Scan(&all, &aside, &due, &named))
	if all != len(bad) || aside != 4 || due != 4 || named != 1 {
		t.Errorf("of %d rows %d are left: %d set aside, %d due, %d with the topic of their box", len(bad), all, aside, due, named)
	}
	for _, values := range []string{"1, 0, 't'", "253402300799999999, 1, 't'", "9223372036854775807, 1, 't'"} {
		f.check(run(schedule + values + rest))
	}
}
