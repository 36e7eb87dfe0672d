package engine_test

import (
	"testing"
	"time"

	"github.com/postbag/postbag/internal/engine"
	"github.com/postbag/postbag/store"
)

func TestReadsThatFindLittleAreAPauseApart(t *testing.T) {
	t.Parallel()
	d := oneShard(t, engine.Config{Page: 4, Linger: 8 * ms})
	d.now = 100 * ms
	turn := d.reading("0")
	d.now += 3 * ms // the pause counts from the start of the read
	d.land(turn, page("1", messages(1, 1)...))
	d.noTurn()
	equal(t, "to be asked again", d.f.Wake(d.now, true, true), 108*ms)
	d.now = 108 * ms
	turn = d.reading("1")
	d.land(turn, page("5", messages(2, 2, 3, 4, 5)...)) // a full page is read on at once
	d.deliver(1, 2, 3, 4, 5)
	d.reading("5")
}

func TestAFlowThatIsWokenReadsSooner(t *testing.T) {
	t.Parallel()
	d := oneShard(t, engine.Config{Page: 4, Linger: 40 * ms})
	d.now = 100 * ms
	turn := d.reading("0")
	d.now += 3 * ms
	d.land(turn, page("1", messages(1, 1)...))
	d.f.Woken()
	d.noTurn()
	d.now += ms
	turn = d.reading("1")
	d.land(turn, page("1"))
	d.f.Woken()
	d.reading("1") // nothing was found: there is nothing to wait for
}

func TestTheMoreAReadFindsTheLongerThePause(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		found       int
		after, woke time.Duration
	}{
		{found: 1, after: 8 * ms, woke: ms / 5},
		{found: 15, after: 8 * ms, woke: 3 * ms},
		{found: 32, after: 16 * ms, woke: 32 * ms / 5},
		{found: 64, after: 32 * ms, woke: 8 * ms},
		{found: 400, after: 32 * ms, woke: 8 * ms},
	} {
		for _, woken := range []bool{false, true} {
			d := oneShard(t, engine.Config{Page: 1000, Linger: 8 * ms})
			d.now = 100 * ms
			turn := d.reading("0")
			d.now += ms
			keys := make([]int, c.found)
			for i := range keys {
				keys[i] = i + 1
			}
			d.land(turn, page("1", messages(1, keys...)...))
			d.f.Next(d.now) // so that what was found is not what keeps it from reading
			want := 100*ms + c.after
			if woken {
				d.f.Woken()
				want = 101*ms + c.woke
			}
			d.now = want - 1
			d.noTurn()
			d.now = want
			d.reading("1")
		}
	}
}

// A flow that was woken without end read without end.
func TestNeedlessWakesCauseNoMoreReadsThanABusyFlow(t *testing.T) {
	t.Parallel()
	d := oneShard(t, engine.Config{PollMin: 4 * ms})
	reads := func(n int, messages ...store.Record) (got int) {
		for range n {
			d.f.Woken()
			if turn := d.f.Turn(d.now); len(turn.Read) > 0 {
				d.land(turn, page("1", messages...))
				got++
			}
			d.now += ms / 10
		}
		return got
	}
	if n := reads(1000); n > 100/4+10 {
		t.Errorf("%d reads of nothing in 100 ms", n)
	}
	d.now += time.Hour
	if n := reads(1); n != 1 {
		t.Error("a hint after a long time is not believed")
	}
	d.now += 4 * ms
	reads(1, messages(1, 1)...)
	d.now += 4 * ms
	if n := reads(8); n != 8 {
		t.Errorf("%d of 8 hints after one that was right had it read", n)
	}
}
