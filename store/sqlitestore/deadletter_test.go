package sqlitestore_test

import (
	"strings"
	"testing"

	"github.com/postbag/postbag/store"
)

// A trigger of somebody's own refuses each letter. The shard goes on without them, and says so. RAISE(ROLLBACK) takes the
// settlement along with the letter.
func TestATriggerOnTheBoxOfDeadLettersStopsNoShard(t *testing.T) {
	t.Parallel()
	for how, does := range map[string]string{
		"ABORT": "SELECT RAISE(ABORT, 'not in this table')", "FAIL": "SELECT RAISE(FAIL, 'not in this table')", "ROLLBACK": "SELECT RAISE(ROLLBACK, 'not in this table')",
		"a table that is gone": "INSERT INTO audit_log VALUES (new.id)", "a function that is gone": "SELECT audited(new.id)", "a value of another type": "INSERT INTO numbers VALUES ('letter')",
	} {
		t.Run(how, func(t *testing.T) {
			t.Parallel()
			f := open(t)
			f.check(f.CreateBox(t.Context(), "dead"))
			f.check(f.Exec(t.Context(), `CREATE TABLE numbers (n INTEGER PRIMARY KEY); CREATE TRIGGER broken BEFORE INSERT ON postbag_dead BEGIN `+does+`; END`))
			lease := f.lease(outbox)
			f.publish(messages(1, "k")...)
			batch := f.read("", 1)
			r := batch.Records[0]
			p := store.Park{Seq: r.Seq, Slot: r.Slot, Hash: r.Hash, State: store.ParkDead, Attempts: 1, DeadTo: "dead", Cause: store.CauseAttempts}
			st := store.Settlement{Lease: lease, To: batch.Next, Park: []store.Park{p}, Tally: []store.Tally{{Fate: store.TallyParked, Count: 1, SeqSum: uint64(r.Seq)}}}
			v := f.turn(store.Turn{Settle: []store.Settlement{st}}).Verdicts[0]
			if !v.Applied || v.Letters == nil || strings.Contains(does, "RAISE") && !strings.Contains(v.Letters.Error(), "not in this table") {
				t.Errorf("the settlement is applied %v, and the letter is not written because %v", v.Applied, v.Letters)
			}
			if n := f.count(`SELECT (SELECT count(*) FROM postbag__parked) * 10 + (SELECT version - 1 FROM postbag__shard WHERE settled > 0)`); n < 11 {
				t.Errorf("the row or the shard is not written: %d", n)
			}
			o, err := f.Overview(t.Context())
			f.check(err)
			if len(o.Boxes[0].Notices)+len(o.Boxes[1].Notices) == 0 {
				t.Error("the overview has no notice of it")
			}
		})
	}
}
