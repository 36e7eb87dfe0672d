package pgstore_test

import (
	"errors"
	"testing"

	"github.com/postbag/postbag/internal/boxtest"
	"github.com/postbag/postbag/store"
)

// The second transaction of those that delete the rows fails, as if the process ended there.
func TestACopyWithManyParkedRowsIsReconciledInParts(t *testing.T) {
	t.Parallel()
	s := newTestBox(t)
	msgs := s.publish(boxtest.Messages(10, "a", "b")...)
	s.exec(`INSERT INTO postbag._parked (sub, seq, shard, slot, hash, state, blocking, attempts, first, id, reason, history)
		SELECT s.sub, 1000 + g, s.id, 7, 70, 4, false, 1, clock_timestamp(), gen_random_uuid(), 'no', '[]'
		FROM generate_series(1, 2500) g, (SELECT s.id, s.sub FROM postbag._shards s JOIN postbag._subscriptions u ON u.id = s.sub WHERE u.name = 'default' LIMIT 1) s`)
	s.exec(`CREATE FUNCTION broken() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION 'the disk is full'; END $$`)
	s.exec(`CREATE TRIGGER broken BEFORE DELETE ON postbag._parked FOR EACH ROW WHEN (old.seq = 2500) EXECUTE FUNCTION broken()`)
	f := s.elsewhere()
	if _, err := f.Check(t.Context()); err == nil || errors.Is(err, store.ErrMoved) {
		t.Fatalf("the check of the copy, whose second transaction fails, ends with %v", err)
	}
	c := &testBox{TB: t, Driver: boxtest.Of(t, f), fixture: f}
	if n := c.number(`SELECT count(*) FROM postbag._parked`); n != 1500 {
		t.Errorf("%d parked rows are left when the second transaction fails, not 1500", n)
	}
	c.exec(`DROP TRIGGER broken ON postbag._parked`)
	if _, err := f.Check(t.Context()); !errors.Is(err, store.ErrMoved) {
		t.Fatalf("the copy is checked with %v, not as one that has moved", err)
	}
	if n := c.number(`SELECT count(*) FROM postbag._parked`); n != 0 {
		t.Errorf("%d parked rows are left", n)
	}
	wantSent(t, f, msgs)
}

// A process ends between two parts, and producers write on until the copy's log has come as far as its positions. Their
// transactions have low ids in the new cluster. Nothing in the log shows any more that it was numbered again: who comes
// next goes on from what the first part found.
func TestACopyWhoseReconciliationEndsInTheMiddleLosesNothing(t *testing.T) {
	t.Parallel()
	s := newTestBox(t)
	msgs := s.publish(boxtest.Messages(10, "a", "b")...)[:5]
	s.Deliver()
	s.exec(`DELETE FROM postbag.outbox WHERE seq > 5`)
	s.exec(`SELECT setval('postbag.outbox__seq', 5)`)
	s.exec(`INSERT INTO postbag._parked (sub, seq, shard, slot, hash, state, blocking, attempts, first, id, reason, history)
		SELECT s.sub, CASE WHEN g <= 5 THEN g ELSE 1000 + g END, s.id, 7, 70, 4, false, 1, clock_timestamp(), gen_random_uuid(), 'no', '[]'
		FROM generate_series(1, 2500) g, (SELECT s.id, s.sub FROM postbag._shards s JOIN postbag._subscriptions u ON u.id = s.sub WHERE u.name = 'default' LIMIT 1) s`)
	s.exec(`CREATE FUNCTION broken() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION 'the disk is full'; END $$`)
	s.exec(`CREATE TRIGGER broken BEFORE DELETE ON postbag._parked FOR EACH ROW WHEN (old.seq = 2500) EXECUTE FUNCTION broken()`)
	f := s.elsewhere()
	if _, err := f.Check(t.Context()); err == nil || errors.Is(err, store.ErrMoved) {
		t.Fatalf("the check of the copy, whose second transaction fails, ends with %v", err)
	}
	c := &testBox{TB: t, Driver: boxtest.Of(t, f), fixture: f}
	c.exec(`DROP TRIGGER broken ON postbag._parked`)
	msgs = append(msgs, c.publish(boxtest.Messages(10, "a", "b")...)...)
	c.exec("ALTER TABLE postbag.outbox DROP CONSTRAINT outbox__sound") // it refuses what is written below
	c.exec("UPDATE postbag.outbox SET xid = '3' WHERE seq > 5")
	next := newFixture(t, f.dsn)
	if _, err := next.Check(t.Context()); !errors.Is(err, store.ErrMoved) {
		t.Fatalf("the copy is checked with %v, not as one that has moved", err)
	}
	if n := c.number(`SELECT count(*) FROM postbag._parked`); n != 0 {
		t.Errorf("%d parked rows are left", n)
	}
	wantSent(t, next, msgs)
}
