package sqlitestore_test

import (
	"testing"

	"github.com/postbag/postbag/store"
)

// The second transaction of those that delete the rows fails, as if the command ended there.
func TestARemovalThatEndsInTheMiddleIsFinishedByHousekeeping(t *testing.T) {
	t.Parallel()
	f, u := delivered(t, 1)
	f.check(f.Exec(t.Context(), `
WITH RECURSIVE n (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM n WHERE n < 2500)
INSERT INTO postbag__parked (subscription, seq, slot, hash, state, chain, attempts, due, ready, first, reason, history)
SELECT s.id, 1000 + n.n, 7, 70, 4, NULL, 1, 1, NULL, 1, 'no', '[]' FROM n, postbag__subscription s WHERE s.name = 'default'`))
	f.check(f.Exec(t.Context(), `CREATE TRIGGER broken BEFORE DELETE ON postbag__parked WHEN OLD.seq = 2500 BEGIN SELECT RAISE(ABORT, 'the disk is full'); END`))
	f.check(f.Remove(t.Context(), ordered, outbox, true))
	if n := f.count(`SELECT count(*) FROM postbag__parked`); n != 1500 {
		t.Errorf("the removal leaves %d rows when its second transaction fails, not 1500", n)
	}
	f.check(f.Readmit(t.Context(), ordered, outbox))
	f.check(f.Store.Declare(t.Context(), []store.Spec{{Ref: outbox}}))
	o, err := f.Overview(t.Context())
	f.check(err)
	if v := o.Boxes[0].Subscriptions[0]; v.Parked[store.ParkDead] != 0 {
		t.Errorf("a new subscription of that name has %d dead messages of the one before it", v.Parked[store.ParkDead])
	}
	f.check(f.Exec(t.Context(), `DROP TRIGGER broken`))
	u.maintain(0)
	if n := f.count(`SELECT (SELECT count(*) FROM postbag__parked) + (SELECT count(*) FROM postbag__leftover)`); n != 0 {
		t.Errorf("housekeeping leaves %d rows", n)
	}
}
