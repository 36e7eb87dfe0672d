package sqlitestore_test

import (
	"errors"
	"testing"

	"github.com/postbag/postbag/store"
	"github.com/postbag/postbag/store/sqlitestore"
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

// A process ends between two parts, and producers write on until the log has come as far as the position of an older version, which has no
// mark of its row. Nothing else shows any more what happened. A relay at work and housekeeping see the mark, and the next check goes on.
func TestASetBackThatEndsInTheMiddleIsFinishedByTheNextProcess(t *testing.T) {
	t.Parallel()
	f, u := delivered(t, 10)
	const unmarked = "\x01\x0a"
	for _, statement := range []string{
		`UPDATE postbag__shard SET position = x'010a' WHERE position <> x''`,
		`WITH RECURSIVE n (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM n WHERE n < 2500)
INSERT INTO postbag__parked (subscription, seq, slot, hash, state, chain, attempts, due, ready, first, reason, history)
SELECT s.id, CASE WHEN n.n <= 5 THEN n.n ELSE 1000 + n.n END, 7, 70, 4, NULL, 1, 1, NULL, 1, 'no', '[]'
FROM n, postbag__subscription s WHERE s.name = 'default'`,
		`CREATE TRIGGER broken BEFORE DELETE ON postbag__parked WHEN OLD.seq = 2500 BEGIN SELECT RAISE(ABORT, 'the disk is full'); END`,
		`DELETE FROM postbag_outbox WHERE seq > 5`,
		`UPDATE sqlite_sequence SET seq = 5 WHERE name = 'postbag_outbox'`,
	} {
		f.check(f.Exec(t.Context(), statement))
	}
	if _, err := f.Check(t.Context()); err == nil || errors.Is(err, store.ErrMoved) {
		t.Fatalf("the check whose second transaction fails ends with %v", err)
	}
	f.check(f.Exec(t.Context(), `DROP TRIGGER broken`))
	f.publish(messages(10, "k")...)
	if _, err := f.Turn(t.Context(), store.Turn{Read: []store.Request{request(unmarked, 100)}}); !errors.Is(err, store.ErrMoved) {
		t.Errorf("the turn of a relay that was at work returned %v, want ErrMoved", err)
	}
	if report, err := f.Maintain(t.Context(), store.Retention{Lease: u.lease}); !errors.Is(err, store.ErrMoved) || report.Deleted > 0 {
		t.Errorf("housekeeping deleted %d messages and returned %v, want ErrMoved", report.Deleted, err)
	}
	if _, err := f.Overview(t.Context()); err != nil {
		t.Errorf("the overview ends with %v", err)
	}
	f = openAt(t, f.path, sqlitestore.Options{})
	if _, err := f.Check(t.Context()); !errors.Is(err, store.ErrMoved) {
		t.Errorf("the box is checked with %v, not as one that has moved", err)
	}
	if _, err := f.Check(t.Context()); err != nil {
		t.Fatalf("the check after that ends with %v", err)
	}
	if got := f.readAll(f.take("another", outbox)[0].Position); len(got) != 15 {
		t.Errorf("%d of 15 messages come after that", len(got))
	}
	if n := f.count(`SELECT count(*) FROM postbag__parked`); n != 0 {
		t.Errorf("%d parked rows are left", n)
	}
}

// All subscriptions of a box are removed while it is set back in parts. The next check has nothing to set back there, and forgets the mark.
func TestABoxWithoutSubscriptionsIsNotSetBackForEver(t *testing.T) {
	t.Parallel()
	f, _ := delivered(t, 10)
	f.check(f.Exec(t.Context(), `UPDATE postbag__box SET swept = -1`))
	f.check(f.Remove(t.Context(), store.Audit{Who: "anna", Why: "not needed"}, outbox, true))
	for _, from := range []store.Start{{}, {Now: true}} {
		spec := store.Spec{Ref: store.Ref{Box: "outbox", Subscription: "another"}, From: from}
		if err := f.Declare(t.Context(), []store.Spec{spec}); !errors.Is(err, store.ErrMoved) {
			t.Errorf("a subscription that begins at %+v is declared meanwhile with %v, want ErrMoved", from, err)
		}
	}
	if _, err := f.Check(t.Context()); err != nil {
		t.Fatal(err)
	}
	f.declare(store.Spec{Ref: store.Ref{Box: "outbox", Subscription: "another"}})
}
