package snapshots

import (
	"math/rand/v2"
	"testing"
	"time"
)

func TestABoundCountsForWhatGotItsIDAfterwards(t *testing.T) {
	t.Parallel()
	var b Bounds
	b.Add(10, 100)
	b.Add(20, 200)
	b.Add(15, 90) // read earlier, and written later: worth nothing
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
	var b Bounds
	var all []pair
	y, s := uint64(100), int64(0)
	for range 3000 {
		y += r.Uint64N(5)
		s += r.Int64N(20)
		p := pair{y - r.Uint64N(50), s - r.Int64N(s+1)/4}
		all = append(all, p)
		b.Add(p.y, p.s)
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
	var b Bounds
	b.Add(30, 300)
	b.Add(42, 400)
	b.Still(41, 350)
	from := Position{Done: &Snapshot{XMax: 35, Beyond: 250, Running: []Runner{{20, 7}, {33, 240}}}}
	to := Snapshot{XMax: 50, Running: []Runner{{XID: 20}, {XID: 33}, {XID: 36}, {XID: 41}, {XID: 45}}}
	b.Raise(&to, &from)
	if to.Beyond != 400 {
		t.Errorf("beyond is %d", to.Beyond)
	}
	for i, want := range []int64{7, 240, 300, 350, 400} {
		if to.Running[i].Low != want {
			t.Errorf("the bound of %d is %d, not %d", to.Running[i].XID, to.Running[i].Low, want)
		}
	}
}

func TestInABoxThatWasRestoredElsewhereARunningIDKeepsWhatLiesBelow(t *testing.T) {
	t.Parallel()
	var b Bounds
	b.Add(30, 1000) // the last seq when the copy was first worked with
	b.Still(25, 1000)
	from := Position{Floor: 600, Base: 1000}
	to := Snapshot{XMax: 50, Running: []Runner{{XID: 25}, {XID: 40}}}
	b.Raise(&to, &from)
	for _, r := range to.Running {
		if r.Low != 600 {
			t.Errorf("the bound of %d was raised to %d: a row of the other cluster may have that id", r.XID, r.Low)
		}
	}
	if to.Beyond != 1000 {
		t.Errorf("beyond is %d", to.Beyond)
	}
}

func TestHalfAnIDIsNotTakenForTheWholeForLong(t *testing.T) {
	t.Parallel()
	var b Bounds
	b.Still(7, 100)
	b.heard = time.Now().Add(-quietFor - time.Second)
	to := Snapshot{XMax: 50, Running: []Runner{{XID: 7}}}
	b.Raise(&to, &Position{Done: &Snapshot{XMax: 5, Beyond: 10}})
	if to.Running[0].Low != 10 {
		t.Errorf("the bound is %d", to.Running[0].Low)
	}
}

func TestWhatDoesNotRunIsForgotten(t *testing.T) {
	t.Parallel()
	var b Bounds
	b.Still(7, 100)
	b.Raise(&Snapshot{XMax: 50}, &Position{})
	to := Snapshot{XMax: 1<<32 + 50, Running: []Runner{{XID: 1<<32 + 7}}}
	b.Raise(&to, &Position{Done: &Snapshot{XMax: 5, Beyond: 10}})
	if to.Running[0].Low != 10 {
		t.Errorf("an id of the next epoch has the bound %d of an earlier one", to.Running[0].Low)
	}
}

func TestAPollWantsABoundInANewLifeEvenIfItsTurnSettles(t *testing.T) {
	t.Parallel()
	var b Bounds
	if !b.Wanted(true) || !b.Wanted(false) {
		t.Error("none is wanted, and there is none")
	}
	b.Add(10, 100)
	b.Saw(150)
	if b.Wanted(true) || b.Wanted(false) {
		t.Error("one is wanted, and there is a good one")
	}
	b.Saw(100 + staleBound + 1)
	if b.Wanted(true) || !b.Wanted(false) {
		t.Error("an old bound is to be renewed by whoever does not settle")
	}
}

func TestThinningKeepsTheFirstBoundAndTheNewestOnes(t *testing.T) {
	t.Parallel()
	var b Bounds
	const n = 10 * maxPairs
	for i := range n {
		b.Add(uint64(i+1), int64(i+1))
		if len(b.pairs) > maxPairs {
			t.Fatalf("%d pairs are kept", len(b.pairs))
		}
	}
	if got := b.before(2); got != 1 {
		t.Errorf("the bound of the second id is %d, not that of the first pair", got)
	}
	for xid := uint64(n - maxPairs/4); xid <= n+1; xid++ {
		if got := b.before(xid); got != int64(xid-1) {
			t.Fatalf("the bound of %d, which is new, is %d", xid, got)
		}
	}
	if len(b.pairs) < maxPairs/2 {
		t.Errorf("%d pairs are left: too many were thinned", len(b.pairs))
	}
}
