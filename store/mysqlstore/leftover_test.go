package mysqlstore_test

import (
	"testing"

	"github.com/postbag/postbag/store"
)

// The second transaction of those that delete the rows fails, as if the command ended there.
func TestARemovalThatEndsInTheMiddleIsFinishedByHousekeeping(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t *testing.T, k *kind) {
		t.Helper()
		s := newTestBox(t, k)
		s.exec(`INSERT INTO postbag__parked (subscription, seq, slot, hash, state, chain, attempts, due, ready, first, reason, history)
SELECT s.id, 1000 + k.n, 7, 70, 4, NULL, 1, 1, NULL, 1, 'no', '[]' FROM postbag__lock k, postbag__subscription s
WHERE s.name = 'default' AND k.n BETWEEN 1 AND 2500`)
		s.exec(`CREATE TRIGGER broken BEFORE DELETE ON postbag__parked FOR EACH ROW
IF OLD.seq = 2500 THEN SIGNAL SQLSTATE '45000' SET MESSAGE_TEXT = 'the disk is full'; END IF`)
		s.Must(s.Remove(t.Context(), order, outbox, true))
		if n := s.number(`SELECT COUNT(*) FROM postbag__parked`); n != 1500 {
			t.Errorf("the removal leaves %d rows when its second transaction fails, not 1500", n)
		}
		s.Must(s.Readmit(t.Context(), order, outbox))
		s.Declare(store.Spec{Ref: outbox})
		o, err := s.Overview(t.Context())
		s.Must(err)
		if v := o.Boxes[0].Subscriptions[0]; v.Parked[store.ParkDead] != 0 {
			t.Errorf("a new subscription of that name has %d dead messages of the one before it", v.Parked[store.ParkDead])
		}
		s.exec(`DROP TRIGGER broken`)
		s.Housekeep()
		if n := s.number(`SELECT (SELECT COUNT(*) FROM postbag__parked) + (SELECT COUNT(*) FROM postbag__leftover)`); n != 0 {
			t.Errorf("housekeeping leaves %d rows", n)
		}
	})
}
