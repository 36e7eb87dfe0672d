package pgstore_test

import (
	"strings"
	"testing"

	"github.com/postbag/postbag/internal/boxtest"
	"github.com/postbag/postbag/store"
)

// A trigger of somebody's own refuses each letter. The shard goes on without them, and says so.
func TestATriggerOnTheBoxOfDeadLettersStopsNoShard(t *testing.T) {
	t.Parallel()
	for name, state := range map[string]string{
		"exception": "P0001", "own state": "45000", "routine": "38000", "at the commit": "P0001",
		"a state that nobody knows": "ZZ123", "of a foreign server": "HV00N", "of a connection": "08006", "not supported": "0A000", "in a wrong state": "55000",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newTestBox(t)
			s.Must(s.CreateBox(t.Context(), "dead"))
			s.exec(`CREATE FUNCTION broken() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION 'not in this table' USING ERRCODE = '` + state + `'; END $$`)
			if name == "at the commit" {
				s.exec(`CREATE CONSTRAINT TRIGGER broken AFTER INSERT ON postbag.dead DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION broken()`)
			} else {
				s.exec(`CREATE TRIGGER broken BEFORE INSERT ON postbag.dead FOR EACH ROW EXECUTE FUNCTION broken()`)
			}
			s.publish(boxtest.Messages(1, "a")...)
			r := s.Read()[0]
			p := store.Park{Seq: r.Seq, Slot: r.Slot, Hash: r.Hash, State: store.ParkDead, Attempts: 1, DeadTo: "dead", Cause: store.CauseAttempts}
			res, err := s.Turn(t.Context(), store.Turn{Settle: []store.Settlement{{Lease: s.Lease, To: s.At, Park: []store.Park{p}}}})
			s.Must(err)
			v := res.Verdicts[0]
			if !v.Applied || v.Letters == nil || !strings.Contains(v.Letters.Error(), "not in this table") {
				t.Errorf("the settlement is applied %v, and the letter is not written because %v", v.Applied, v.Letters)
			}
			o, err := s.Overview(t.Context())
			s.Must(err)
			if n := o.Boxes[0].Notices; len(n)+len(o.Boxes[1].Notices) == 0 {
				t.Error("the overview has no notice of it")
			}
		})
	}
}
