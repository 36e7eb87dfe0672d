package sqlitestore_test

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/postbag/postbag"
	"github.com/postbag/postbag/store"
	"github.com/postbag/postbag/store/sqlitestore"
)

var ordered = store.Audit{Who: "an operator", Why: "the test"}

func TestADeletedRowStopsRetentionUntilAnOperatorAcceptsIt(t *testing.T) {
	t.Parallel()
	f, u := delivered(t, 20)
	f.check(f.Exec(t.Context(), `DELETE FROM postbag_outbox WHERE seq = 7`))
	if got := u.maintain(0); got.Deleted != 0 || len(got.Faults) != 1 {
		t.Fatalf("a delivered row is gone, and housekeeping answers %+v", got)
	}
	lines, err := f.AcceptLedger(t.Context(), ordered, "outbox")
	f.check(err)
	if len(lines) != 1 || !strings.Contains(lines[0], "19 messages passed, 20 accounted for") {
		t.Errorf("accepted is %q", lines)
	}
	if got := u.maintain(0); got.Deleted != 19 || len(got.Faults) != 0 {
		t.Errorf("after that was accepted housekeeping answers %+v", got)
	}
}

func TestAfterAnEraseTheTableStillRefusesChanges(t *testing.T) {
	t.Parallel()
	f := open(t)
	lease := f.lease(outbox)
	m := message("k", 1)
	f.publish(m)
	f.deliver(&lease, f.read("", 1))
	got, err := f.Erase(t.Context(), ordered, "outbox", []postbag.ID{m.ID})
	f.check(err)
	if got.Messages != 1 || f.count(`SELECT length(payload) + length(key) FROM postbag_outbox`) != 0 {
		t.Errorf("%d messages were erased", got.Messages)
	}
	if err := f.Exec(t.Context(), `UPDATE postbag_outbox SET topic = 'x'`); err == nil {
		t.Error("a message was changed")
	}
}

func TestAnOlderFileIsMigratedWithWhatItHolds(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "old.db")
	f := openAt(t, path, sqlitestore.Options{Create: true, Unmigrated: true})
	_, steps, err := f.Pending(t.Context())
	f.check(err)
	f.check(f.Exec(t.Context(), steps[0].SQL))
	for _, text := range []string{
		`INSERT INTO postbag__parked (subscription, seq, slot, hash, state, chain, attempts, due, ready, first, reason, history)
VALUES (9, 1, 7, 70, 1, 70, 3, 1, 1, 1, 'no', '[]')`,
		`INSERT INTO postbag__command (subscription, seq, kind) VALUES (9, 1, 2)`,
		`INSERT INTO postbag__relay (id, name, works, expires) VALUES ('r', 'r', '[]', 9000000000000000)`,
	} {
		f.check(f.Exec(t.Context(), text))
	}
	done, err := f.Migrate(t.Context())
	f.check(err)
	if len(done) != len(steps)-1 {
		t.Errorf("a file of the first version took %d steps of %d", len(done), len(steps))
	}
	o, err := openAt(t, path, sqlitestore.Options{}).Overview(t.Context())
	f.check(err)
	if len(o.Relays) != 1 || len(o.Relays[0].Conditions) != 0 {
		t.Errorf("after that the relays are %+v", o.Relays)
	}
	const known = 1 // by a program that knows no commands for pending messages, and would delete them
	if n := f.count(`SELECT reader FROM postbag__meta`); n <= known {
		t.Errorf("the schema takes programs that know version %d", n)
	}
	if n := f.count(`SELECT count(*) FROM postbag__parked p JOIN postbag__command c ON c.seq = p.seq WHERE held IS NULL AND pending = 0`); n != 1 {
		t.Errorf("%d of one parked message and its command are there", n)
	}
}

// Ended, a replay has no row in any table: what is left would be found by nobody, and keeps bytes of messages.
func TestAnEndedReplayLeavesNoRows(t *testing.T) {
	t.Parallel()
	f := open(t)
	f.publish(message("k", 1), message("k", 2))
	again := store.Ref{Box: "outbox", Subscription: "again"}
	f.check(f.StartReplay(t.Context(), ordered, store.Replay{Ref: again, Of: "default", Through: 2}))
	lease := f.lease(again)
	batch := f.turn(store.Turn{Read: []store.Request{{Ref: again, Slots: []store.Slots{store.AllSlots}, Limit: 10, Bytes: 1 << 20}}}).Batches[0]
	r := batch.Records[0]
	f.turn(store.Turn{Settle: []store.Settlement{{
		Lease: lease, To: batch.Next, Tally: []store.Tally{{Fate: store.TallyParked, Count: 1, SeqSum: uint64(r.Seq)}},
		Park: []store.Park{{Seq: r.Seq, Slot: r.Slot, Hash: r.Hash, State: store.ParkDead, Blocking: true, Attempts: 1, Reason: "no"}},
	}}})
	if n, err := f.Command(t.Context(), ordered, again, store.Retry, []int64{r.Seq}); err != nil || n != 1 {
		t.Fatalf("%d commands were queued: %v", n, err)
	}
	rows := `SELECT (SELECT count(*) FROM postbag__parked WHERE subscription > 2) + (SELECT count(*) FROM postbag__command WHERE subscription > 2) +
(SELECT count(*) FROM postbag__ledger WHERE subscription > 2) + (SELECT count(*) FROM postbag__shard WHERE subscription > 2) +
(SELECT count(*) FROM postbag__subscription WHERE id > 2)`
	if f.count(rows) != 5 {
		t.Fatalf("before its end a replay has %d rows", f.count(rows))
	}
	f.check(f.EndReplay(t.Context(), ordered, again, "0 delivered"))
	if n := f.count(rows); n != 0 {
		t.Errorf("an ended replay leaves %d rows", n)
	}
}
