package pgstore

import (
	"math/rand/v2"
	"testing"
	"time"
)

func TestABoundCountsForWhatGotItsIDAfterwards(t *testing.T) {
	t.Parallel()
	var b bounds
	b.add(10, 100)
	b.add(20, 200)
	b.add(15, 90) // read earlier, and written later: worth nothing
	for xid, want := range map[uint64]int64{5: 0, 10: 0, 11: 100, 16: 100, 20: 100, 21: 200, 1000: 200} {
		if got := b.before(xid); got != want {
			t.Errorf("before %d: %d, not %d", xid, got, want)
		}
	}
}

// However pairs come and are thinned, a bound is never higher than the best pair
// below the id says, and never gets worse with a higher id.
func TestBoundsAreNeverTooHigh(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(1, 1))
	var b bounds
	var all []pair
	y, s := uint64(100), int64(0)
	for range 3000 {
		y += r.Uint64N(5)
		s += r.Int64N(20)
		p := pair{y - r.Uint64N(50), s - r.Int64N(s+1)/4}
		all = append(all, p)
		b.add(p.y, p.s)
		xid := r.Uint64N(y + 10)
		best := int64(0)
		for _, q := range all {
			if q.y < xid {
				best = max(best, q.s)
			}
		}
		if got := b.before(xid); got > best {
			t.Fatalf("before %d: %d, and nothing says more than %d", xid, got, best)
		}
		if b.before(xid) > b.before(xid+3) {
			t.Fatalf("the bound of %d is higher than that of %d", xid, xid+3)
		}
	}
	if len(b.pairs) > maxPairs {
		t.Errorf("%d pairs are kept", len(b.pairs))
	}
	if got := b.before(y + 1); got == 0 {
		t.Error("the newest bound was thinned away")
	}
}

func TestRaisingASnapshotsBounds(t *testing.T) {
	t.Parallel()
	var b bounds
	b.add(30, 300)
	b.add(42, 400)
	b.still(41, 350)
	from := position{done: &snapshot{xmax: 35, beyond: 250, running: []runner{{20, 7}, {33, 240}}}}
	to := snapshot{xmax: 50, running: []runner{{xid: 20}, {xid: 33}, {xid: 36}, {xid: 41}, {xid: 45}}}
	b.raise(&to, &from)
	if to.beyond != 400 {
		t.Errorf("beyond is %d", to.beyond)
	}
	for i, want := range []int64{7, 240, 300, 350, 400} {
		if to.running[i].low != want {
			t.Errorf("the bound of %d is %d, not %d", to.running[i].xid, to.running[i].low, want)
		}
	}
}

func TestInABoxThatWasRestoredElsewhereARunningIDKeepsWhatLiesBelow(t *testing.T) {
	t.Parallel()
	var b bounds
	b.add(30, 1000) // the last seq when the copy was first worked with
	b.still(25, 1000)
	from := position{floor: 600, base: 1000}
	to := snapshot{xmax: 50, running: []runner{{xid: 25}, {xid: 40}}}
	b.raise(&to, &from)
	for _, r := range to.running {
		if r.low != 600 {
			t.Errorf("the bound of %d was raised to %d: a row of the other cluster may have that id", r.xid, r.low)
		}
	}
	if to.beyond != 1000 {
		t.Errorf("beyond is %d", to.beyond)
	}
}

func TestHalfAnIDIsNotTakenForTheWholeForLong(t *testing.T) {
	t.Parallel()
	var b bounds
	b.still(7, 100)
	b.heard = time.Now().Add(-quietFor - time.Second)
	to := snapshot{xmax: 50, running: []runner{{xid: 7}}}
	b.raise(&to, &position{done: &snapshot{xmax: 5, beyond: 10}})
	if to.running[0].low != 10 {
		t.Errorf("the bound is %d", to.running[0].low)
	}
}

func TestWhatDoesNotRunIsForgotten(t *testing.T) {
	t.Parallel()
	var b bounds
	b.still(7, 100)
	b.raise(&snapshot{xmax: 50}, &position{})
	to := snapshot{xmax: 1<<32 + 50, running: []runner{{xid: 1<<32 + 7}}}
	b.raise(&to, &position{done: &snapshot{xmax: 5, beyond: 10}})
	if to.running[0].low != 10 {
		t.Errorf("an id of the next epoch has the bound %d of an earlier one", to.running[0].low)
	}
}
