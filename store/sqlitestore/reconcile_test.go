package sqlitestore_test

import (
	"errors"
	"testing"

	"github.com/postbag/postbag/store"
)

// The second transaction of those that delete the rows fails, as if the process ended there.
func TestASubscriptionWithManyParkedRowsIsSetBackInParts(t *testing.T) {
	t.Parallel()
	f, _ := delivered(t, 10)
	for _, statement := range append([]string{
		`WITH RECURSIVE n (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM n WHERE n < 2500)
INSERT INTO postbag__parked (subscription, seq, slot, hash, state, chain, attempts, due, ready, first, reason, history)
SELECT s.id, 1000 + n.n, 7, 70, 4, NULL, 1, 1, NULL, 1, 'no', '[]' FROM n, postbag__subscription s WHERE s.name = 'default'`,
		`CREATE TRIGGER broken BEFORE DELETE ON postbag__parked WHEN OLD.seq = 2500 BEGIN SELECT RAISE(ABORT, 'the disk is full'); END`,
	}, emptied["rows deleted, numbering set back"]...) {
		f.check(f.Exec(t.Context(), statement))
	}
	f.publish(messages(1, "k")...)
	if _, err := f.Check(t.Context()); err == nil || errors.Is(err, store.ErrMoved) {
		t.Fatalf("the check whose second transaction fails ends with %v", err)
	}
	if n := f.count(`SELECT count(*) FROM postbag__parked`); n != 1500 {
		t.Errorf("%d parked rows are left when the second transaction fails, not 1500", n)
	}
	f.check(f.Exec(t.Context(), `DROP TRIGGER broken`))
	if _, err := f.Check(t.Context()); !errors.Is(err, store.ErrMoved) {
		t.Fatalf("the box is checked with %v, not as one that has moved", err)
	}
	if n := f.count(`SELECT count(*) FROM postbag__parked`); n != 0 {
		t.Errorf("%d parked rows are left", n)
	}
	if _, err := f.Check(t.Context()); err != nil {
		t.Errorf("the check after that ends with %v", err)
	}
}
