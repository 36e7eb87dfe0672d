package engine_test

import (
	"fmt"
	"testing"

	"github.com/postbag/postbag/broker"
	"github.com/postbag/postbag/internal/engine"
	"github.com/postbag/postbag/store"
)

// refused makes n messages that the filter refuses, with seqs from first on.
func refused(first int64, n int) []store.Record {
	out := make([]store.Record, n)
	for i := range out {
		out[i] = message(first+int64(i), 0)
		out[i].Filtered = true
	}
	return out
}

// crowd has pages of ten refused messages read until the flow reads no more, and returns the
// seq that comes next.
func (d *desk) crowd(first int64, most int) int64 {
	d.t.Helper()
	for n := first; ; n += 10 {
		t := d.f.Turn(d.now)
		if len(t.Read) == 0 || t.Read[0].Limit == 0 {
			d.land(t)
			return n
		}
		if n > int64(most) {
			d.t.Fatalf("more than %d messages are read behind one that does not move", most)
		}
		d.land(t, part(store.Position(fmt.Sprint(n)), refused(n, 10)...))
	}
}

func TestWhatAFilterRefusesIsReadOnlyUpToABoundBehindACall(t *testing.T) {
	t.Parallel()
	d := oneShard(t, engine.Config{Page: 10, Rows: 40})
	d.land(d.turn(), part("1", message(1, 1)))
	c := d.call(1)
	next := d.crowd(2, 60)
	equal(t, "the next seq", next, 42)
	d.answer(c, broker.Accepted)
	s := d.settle()
	equal(t, "settled up to", s.To, "32")
	d.feed("all", refused(next, 1)...)
}

func TestTheBoundOnRowsHasADefault(t *testing.T) {
	t.Parallel()
	for page, want := range map[int]int{0: 64_000, 10: 64_000, 50_000: 200_000} {
		equal(t, "the bound", engine.Config{Page: page}.Normal().Rows, want)
	}
}

// Whether the fault is its own only another message can show, and behind it all that there is room for is refused.
func TestAMessageInDoubtIsParkedWhenItsWindowHasNoRoomForOthers(t *testing.T) {
	t.Parallel()
	d := oneShard(t, engine.Config{Page: 10, Rows: 40})
	d.land(d.turn(), part("1", message(1, 1)))
	d.answer(d.call(1), broker.Unknown)
	next := d.crowd(2, 60)
	d.now = d.f.PauseEnds()
	equal(t, "check", d.f.Check(d.now), engine.TryOne)
	d.answer(d.f.Trial(d.now), broker.Unknown)
	s := d.settle()
	if len(s.Park) != 1 || s.Park[0].Seq != 1 || s.Park[0].State != store.ParkRetrying || s.Park[0].Attempts != 0 || s.To != "32" {
		t.Fatalf("settled is %+v", s)
	}
	d.now = max(d.now, d.f.PauseEnds())
	if d.f.Check(d.now) == engine.TryOne && d.f.Trial(d.now) != nil {
		t.Fatal("a message is tried that is parked")
	}
	d.feed("all", message(next, 2))
	d.deliver(next)
	d.settle()
	d.lot(parked(1, 1, 0))
	d.deliver(1)
	d.settle(message(1, 1).Hash)
	d.empty()
}
