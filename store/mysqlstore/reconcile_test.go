package mysqlstore_test

import (
	"errors"
	"testing"

	"github.com/postbag/postbag/internal/boxtest"
	"github.com/postbag/postbag/store"
)

// The second transaction of those that delete the rows fails, as if the process ended there.
func TestASubscriptionWithManyParkedRowsIsSetBackInParts(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t *testing.T, k *kind) {
		t.Helper()
		s := newTestBox(t, k)
		s.publish(boxtest.Messages(10, "a", "b")...)
		s.Deliver()
		s.exec(`INSERT INTO postbag__parked (subscription, seq, slot, hash, state, chain, attempts, due, ready, first, reason, history)
SELECT s.id, 1000 + k.n, 7, 70, 4, NULL, 1, 1, NULL, 1, 'no', '[]' FROM postbag__lock k, postbag__subscription s
WHERE s.name = 'default' AND k.n BETWEEN 1 AND 2500`)
		s.exec(`CREATE TRIGGER broken BEFORE DELETE ON postbag__parked FOR EACH ROW
IF OLD.seq = 2500 THEN SIGNAL SQLSTATE '45000' SET MESSAGE_TEXT = 'the disk is full'; END IF`)
		s.exec("TRUNCATE TABLE postbag_outbox")
		s.publish(boxtest.Messages(3, "a", "b")...)
		if _, err := s.Check(t.Context()); err == nil || errors.Is(err, store.ErrMoved) {
			t.Fatalf("the check whose second transaction fails ends with %v", err)
		}
		if n := s.number(`SELECT COUNT(*) FROM postbag__parked`); n != 1500 {
			t.Errorf("%d parked rows are left when the second transaction fails, not 1500", n)
		}
		s.exec(`DROP TRIGGER broken`)
		if _, err := s.Check(t.Context()); !errors.Is(err, store.ErrMoved) {
			t.Fatalf("the box is checked with %v, not as one that has moved", err)
		}
		if n := s.number(`SELECT COUNT(*) FROM postbag__parked`); n != 0 {
			t.Errorf("%d parked rows are left", n)
		}
		if _, err := s.Check(t.Context()); err != nil {
			t.Errorf("the check after that ends with %v", err)
		}
	})
}
