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

// A process ends between two parts, and producers write on until the log has come as far as the position of an older version, which has no
// mark of its row. Nothing else shows any more what happened. A relay at work and housekeeping see the mark, and the next check goes on.
func TestASetBackThatEndsInTheMiddleIsFinishedByTheNextProcess(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t *testing.T, k *kind) {
		t.Helper()
		s := newTestBox(t, k)
		s.publish(boxtest.Messages(10, "a", "b")...)
		s.Deliver()
		const unmarked = "\x01\x00\x0a"
		s.exec(`UPDATE postbag__shard SET position = x'01000a' WHERE position <> ''`)
		s.exec(`INSERT INTO postbag__parked (subscription, seq, slot, hash, state, chain, attempts, due, ready, first, reason, history)
SELECT s.id, IF(k.n <= 5, k.n, 1000 + k.n), 7, 70, 4, NULL, 1, 1, NULL, 1, 'no', '[]' FROM postbag__lock k, postbag__subscription s
WHERE s.name = 'default' AND k.n BETWEEN 1 AND 2500`)
		s.exec(`CREATE TRIGGER broken BEFORE DELETE ON postbag__parked FOR EACH ROW
IF OLD.seq = 2500 THEN SIGNAL SQLSTATE '45000' SET MESSAGE_TEXT = 'the disk is full'; END IF`)
		s.exec("DELETE FROM postbag_outbox WHERE seq > 5")
		s.exec("ALTER TABLE postbag_outbox AUTO_INCREMENT = 6")
		if _, err := s.Check(t.Context()); err == nil || errors.Is(err, store.ErrMoved) {
			t.Fatalf("the check whose second transaction fails ends with %v", err)
		}
		s.exec(`DROP TRIGGER broken`)
		s.publish(boxtest.Messages(10, "a", "b")...)
		if _, err := s.Turn(t.Context(), store.Turn{Read: []store.Request{request(unmarked, 100)}}); !errors.Is(err, store.ErrMoved) {
			t.Errorf("the turn of a relay that was at work returned %v, want ErrMoved", err)
		}
		if report, err := s.Maintain(t.Context(), store.Retention{Lease: s.House}); !errors.Is(err, store.ErrMoved) || report.Deleted > 0 {
			t.Errorf("housekeeping deleted %d messages and returned %v, want ErrMoved", report.Deleted, err)
		}
		if _, err := s.Overview(t.Context()); err != nil {
			t.Errorf("the overview ends with %v", err)
		}
		f := newFixture(t, s.dsn)
		if _, err := f.Check(t.Context()); !errors.Is(err, store.ErrMoved) {
			t.Errorf("the box is checked with %v, not as one that has moved", err)
		}
		if _, err := f.Check(t.Context()); err != nil {
			t.Fatalf("the check after that ends with %v", err)
		}
		again := boxtest.Of(t, f)
		again.Take("another relay", outbox)
		if got, _ := again.ReadFrom(outbox, s.position(outbox)); len(got) != 15 {
			t.Errorf("%d of 15 messages come after that", len(got))
		}
		if n := s.number(`SELECT COUNT(*) FROM postbag__parked`); n != 0 {
			t.Errorf("%d parked rows are left", n)
		}
	})
}

// All subscriptions of a box are removed while it is set back in parts. The next check has nothing to set back there, and forgets the mark.
func TestABoxWithoutSubscriptionsIsNotSetBackForEver(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t *testing.T, k *kind) {
		t.Helper()
		s := newTestBox(t, k)
		s.publish(boxtest.Messages(10, "a", "b")...)
		s.exec(`UPDATE postbag__box SET swept = -1`)
		s.Must(s.Store.Remove(t.Context(), store.Audit{Who: "anna", Why: "not needed"}, outbox, true))
		for _, from := range []store.Start{{}, {Now: true}} {
			spec := store.Spec{Ref: store.Ref{Box: "outbox", Subscription: "another"}, From: from}
			if err := s.Store.Declare(t.Context(), []store.Spec{spec}); !errors.Is(err, store.ErrMoved) {
				t.Errorf("a subscription that begins at %+v is declared meanwhile with %v, want ErrMoved", from, err)
			}
		}
		if _, err := s.Check(t.Context()); err != nil {
			t.Fatal(err)
		}
		s.Must(s.Store.Declare(t.Context(), []store.Spec{{Ref: store.Ref{Box: "outbox", Subscription: "another"}}}))
	})
}
