package mysqlstore_test

import (
	"strings"
	"testing"

	"github.com/postbag/postbag/internal/boxtest"
	"github.com/postbag/postbag/store"
)

// A trigger of somebody's own refuses each letter. The shard goes on without them, and says so.
func TestATriggerOnTheBoxOfDeadLettersStopsNoShard(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t *testing.T, k *kind) {
		t.Helper()
		for errno, set := range map[string]string{"1644": "", "30001": ", MYSQL_ERRNO = 30001"} {
			brokenLetter(t, k, set, errno)
		}
	})
}

// brokenLetter has a trigger raise an error with what is set, and wants its number.
func brokenLetter(t *testing.T, k *kind, set, errno string) {
	t.Helper()
	s := newTestBox(t, k)
	s.Must(s.CreateBox(t.Context(), "dead"))
	s.exec(`CREATE TRIGGER broken BEFORE INSERT ON postbag_dead FOR EACH ROW SIGNAL SQLSTATE '45000' SET MESSAGE_TEXT = 'not in this table'` + set)
	s.publish(boxtest.Messages(1, "a")...)
	r := s.Read()[0]
	p := store.Park{Seq: r.Seq, Slot: r.Slot, Hash: r.Hash, State: store.ParkDead, Attempts: 1, DeadTo: "dead", Cause: store.CauseAttempts}
	res, err := s.Turn(t.Context(), store.Turn{Settle: []store.Settlement{{Lease: s.Lease, To: s.At, Park: []store.Park{p}}}})
	s.Must(err)
	v := res.Verdicts[0]
	if !v.Applied || v.Letters == nil || !strings.Contains(v.Letters.Error(), errno) {
		t.Errorf("the settlement is applied %v, and the letter is not written because %v", v.Applied, v.Letters)
	}
	o, err := s.Overview(t.Context())
	s.Must(err)
	if len(o.Boxes[0].Notices)+len(o.Boxes[1].Notices) == 0 {
		t.Error("the overview has no notice of it")
	}
}
