package simulation

import (
	"testing"

	"github.com/postbag/postbag/internal/engine"
	"github.com/postbag/postbag/store"
)

// ofKey is the row of a message of key 1.
func ofKey(n int) *row { return &row{id: n, seq: int64(n), key: 1, commit: n} }

// behindANewerOne is what the judge says of message 1, which the broker is about to store behind message 2 of
// its key.
func behindANewerOne(change func(w *world, older, newer *message)) *Violation {
	w := newWorld()
	w.reset(false)
	w.plan.cfg.OnReject = engine.Supersede
	older := &message{row: ofKey(1), shifting: true}
	newer := &message{row: ofKey(2), shifting: true, accepted: 1, inTurn: true}
	older.size, newer.size = 1000, 1000
	w.producers.msgs = []*message{older, newer}
	change(w, older, newer)
	w.checkNewer(&delivery{begun: w.moment()}, older)
	return w.failed
}

func TestAMessageBehindANewerOneIsFound(t *testing.T) {
	t.Parallel()
	if v := behindANewerOne(func(*world, *message, *message) {}); v == nil || v.Promise != "P3" {
		t.Errorf("what was found is %v", v)
	}
}

// Whether the filter refuses the older one at first, or the newer one when it is read again, no relay can know better.
func TestAFilterThatChangesMayLetAMessageComeBehindANewerOne(t *testing.T) {
	t.Parallel()
	for name, refused := range map[string]int{"the older one was refused": 0, "the newer one was refused": 1} {
		v := behindANewerOne(func(w *world, older, newer *message) {
			m := []*message{older, newer}[refused]
			s := &server{w: w}
			s.refuses = true
			w.plan.faults = Filters
			s.judged(&store.Batch{Records: []store.Record{m.record()}})
		})
		if v != nil {
			t.Errorf("%s: %v", name, v)
		}
	}
}

// The broker says no to a message while an earlier call with it is under way: that call comes too late for anybody to know.
func TestALateCallOfARejectedMessageMayComeBehindANewerOne(t *testing.T) {
	t.Parallel()
	w := newWorld()
	w.reset(false)
	w.plan.cfg.OnReject = engine.Supersede
	for _, shifting := range []bool{false, true} {
		older := &message{row: ofKey(1), shifting: shifting}
		w.producers.msgs = []*message{older, {row: ofKey(2), inTurn: true}}
		late := &delivery{begun: w.moment()}
		w.refused(older)
		w.checkNewer(late, older)
		if w.failed != nil {
			t.Fatalf("of one that the filter may refuse %v: %v", shifting, w.failed)
		}
	}
}
