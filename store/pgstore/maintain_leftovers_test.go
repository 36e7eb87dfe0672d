package pgstore_test

import (
	"testing"

	"github.com/postbag/postbag/store"
)

// The second transaction of those that delete the rows fails, as if the command ended there.
func TestARemovalThatEndsInTheMiddleIsFinishedByHousekeeping(t *testing.T) {
	t.Parallel()
	s := newTestBox(t)
	s.exec(`INSERT INTO postbag._parked (sub, seq, shard, slot, hash, state, blocking, attempts, first, id, reason, history)
		SELECT s.sub, 1000 + g, s.id, 7, 70, 4, false, 1, clock_timestamp(), gen_random_uuid(), 'no', '[]'
		FROM generate_series(1, 2500) g, (SELECT s.id, s.sub FROM postbag._shards s JOIN postbag._subscriptions u ON u.id = s.sub WHERE u.name = 'default' LIMIT 1) s`)
	s.exec(`CREATE FUNCTION broken() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION 'the disk is full'; END $$`)
	s.exec(`CREATE TRIGGER broken BEFORE DELETE ON postbag._parked FOR EACH ROW WHEN (old.seq = 2500) EXECUTE FUNCTION broken()`)
	by := store.Audit{Who: "an operator", Why: "the test"}
	s.Must(s.Remove(t.Context(), by, outbox, true))
	if n := s.number(`SELECT count(*) FROM postbag._parked`); n != 1500 {
		t.Errorf("the removal leaves %d rows when its second transaction fails, not 1500", n)
	}
	s.Must(s.Readmit(t.Context(), by, outbox))
	s.Declare(store.Spec{Ref: outbox})
	o, err := s.Overview(t.Context())
	s.Must(err)
	if v := o.Boxes[0].Subscriptions[0]; v.Parked[store.ParkDead] != 0 {
		t.Errorf("a new subscription of that name has %d dead messages of the one before it", v.Parked[store.ParkDead])
	}
	s.exec(`DROP TRIGGER broken ON postbag._parked`)
	s.Housekeep()
	if n := s.number(`SELECT (SELECT count(*) FROM postbag._parked) + (SELECT count(*) FROM postbag._leftovers)`); n != 0 {
		t.Errorf("housekeeping leaves %d rows", n)
	}
}
