package sqlitestore_test

import (
	"strings"
	"testing"

	"github.com/postbag/postbag/store"
)

// One that the box's constraints refuse is set aside, and stays there to be seen.
func TestAScheduledRowThatBreaksTheConstraintsHoldsUpNoOther(t *testing.T) {
	t.Parallel()
	f := open(t).upkeep()
	const schedule = "INSERT INTO postbag__scheduled (box, due, id, at, topic, key, shard_key, type, headers, payload) VALUES ('outbox', "
	bad := []string{
		"-9e999, x'11111111111111111111111111111111', 0, '', 'a', '', '', NULL, 'p')",
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
	items, _, err := f.List(t.Context(), store.Query{Ref: outbox, State: store.Scheduled})
	if err != nil || len(items) != len(bad) {
		t.Errorf("of %d that were set aside %d are shown (error: %v)", len(bad), len(items), err)
	}
	if report := f.maintain(0); len(report.Faults) != 0 {
		t.Errorf("it is said again: %q", report.Faults)
	}
}
