package snapshots

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"
)

func TestABoundAppliesToLaterTransactionIDs(t *testing.T) {
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

func TestRaiseSetsTheBestKnownBoundsOfASnapshot(t *testing.T) {
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

func TestInARestoredBoxARunningIDKeepsTheRowsBelow(t *testing.T) {
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

func TestATruncatedTransactionIDExpires(t *testing.T) {
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

func TestBoundsOfEndedTransactionsAreForgotten(t *testing.T) {
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

func TestAPollAfterAFailoverAsksForABound(t *testing.T) {
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
		t.Error("an old bound is to be renewed by a relay that does not settle")
	}
}

func TestTooManyBoundsKeepTheFirstAndTheNewest(t *testing.T) {
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

func TestRedundantBoundsAreNotKept(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name string
		add  []pair
		want []pair
	}{
		{"a later id with the same last seq", []pair{{10, 100}, {12, 100}}, []pair{{10, 100}}},
		{"an earlier id with the same last seq", []pair{{20, 200}, {15, 200}}, []pair{{15, 200}}},
		{"an earlier id with a higher last seq", []pair{{20, 200}, {30, 300}, {15, 250}}, []pair{{15, 250}, {30, 300}}},
		{"the same id with a higher last seq", []pair{{10, 100}, {10, 150}}, []pair{{10, 150}}},
		{"the same id with a lower last seq", []pair{{10, 100}, {10, 50}}, []pair{{10, 50}, {10, 100}}},
		{"one between two", []pair{{10, 100}, {30, 300}, {20, 200}}, []pair{{10, 100}, {20, 200}, {30, 300}}},
	} {
		var b Bounds
		for _, p := range c.add {
			b.Add(p.y, p.s)
		}
		if !slices.Equal(b.pairs, c.want) {
			t.Errorf("%s: %v is kept, not %v", c.name, b.pairs, c.want)
		}
		if got, want := b.before(math.MaxUint64), c.want[len(c.want)-1].s; got != want {
			t.Errorf("%s: the newest bound is %d, not %d", c.name, got, want)
		}
	}
}

func TestAsManyBoundsAsFitAreAllKept(t *testing.T) {
	t.Parallel()
	var b Bounds
	for i := range maxPairs {
		b.Add(uint64(i+1), int64(i+1))
	}
	if len(b.pairs) != maxPairs {
		t.Errorf("%d of %d are kept", len(b.pairs), maxPairs)
	}
	b.Add(maxPairs+1, maxPairs+1)
	if want := maxPairs/2 + maxPairs/4 + 1; len(b.pairs) != want {
		t.Errorf("with one more %d are kept, not %d: every second of the older half goes", len(b.pairs), want)
	}
}

func TestASnapshotsBoundIsTheBestOfWhatIsKnown(t *testing.T) {
	t.Parallel()
	var b Bounds
	b.Add(30, 300)
	to := Snapshot{XMax: 50}
	b.Raise(&to, &Position{Done: &Snapshot{XMax: 35, Beyond: 340}})
	if to.Beyond != 340 {
		t.Errorf("beyond is %d: the position knew 340", to.Beyond)
	}
	to = Snapshot{XMax: 50, Running: []Runner{{XID: 40}}}
	b.Raise(&to, &Position{Floor: 350})
	if to.Beyond != 350 || to.Running[0].Low != 350 {
		t.Errorf("behind a floor of 350 the bounds are %d and %d", to.Beyond, to.Running[0].Low)
	}
}

func TestARunningTransactionKeepsTheHighestSeqAtWhichItHadNotWritten(t *testing.T) {
	t.Parallel()
	var b Bounds
	b.Still(7, 100)
	b.Still(7, 50)
	low := func() int64 {
		to := Snapshot{XMax: 50, Running: []Runner{{XID: 7}}}
		b.Raise(&to, &Position{Done: &Snapshot{XMax: 5, Beyond: 10}})
		return to.Running[0].Low
	}
	for range 2 { // as long as it runs
		if got := low(); got != 100 {
			t.Errorf("the bound is %d, not 100", got)
		}
	}
	b.heard = time.Now().Add(-quietFor - time.Second)
	b.Still(7, 120) // seen again: the time begins again
	if got := low(); got != 120 {
		t.Errorf("the bound is %d, not 120", got)
	}
}

// In a box that was restored elsewhere, rows of the other cluster lie up to the base and none beyond it.
func TestBoundsOfRunningTransactionsAreRaisedOnceTheyReachTheBase(t *testing.T) {
	t.Parallel()
	var b Bounds
	b.Add(30, 2000)
	for _, c := range []struct{ floor, want int64 }{{999, 999}, {1000, 2000}, {1001, 2000}} {
		to := Snapshot{XMax: 50, Running: []Runner{{XID: 40}}}
		b.Raise(&to, &Position{Floor: c.floor, Base: 1000})
		if to.Running[0].Low != c.want {
			t.Errorf("from %d the bound is %d, not %d", c.floor, to.Running[0].Low, c.want)
		}
	}
}

func TestIdleTransactionsAreLookedUpIfMuchWouldBeReadAgain(t *testing.T) {
	t.Parallel()
	now := time.Now()
	at := func(low int64) *Position {
		return &Position{Done: &Snapshot{XMax: 50, Beyond: 30_000, Running: []Runner{{40, low}}}}
	}
	var b Bounds
	b.Saw(30_000)
	b.Saw(25_000) // an older one
	if b.LookForQuiet(&Position{Floor: 1}, now) {
		t.Error("a floor has no running transactions that could be bounded")
	}
	if b.LookForQuiet(at(30_000-quietLag+1), now) {
		t.Error("it is worth while though little would be read again")
	}
	if !b.LookForQuiet(at(30_000-quietLag), now) {
		t.Error("it is not worth while though much would be read again, and nobody has looked yet")
	}
	if b.LookForQuiet(at(0), now.Add(quietPause-1)) {
		t.Error("it is worth while again at once")
	}
	if !b.LookForQuiet(at(0), now.Add(quietPause)) || b.LookForQuiet(at(0), now.Add(quietPause+1)) {
		t.Error("after a pause it is worth while once")
	}
}

func TestABoundIsStaleBeyondItsLimitOnly(t *testing.T) {
	t.Parallel()
	var b Bounds
	b.Add(10, 50)
	b.Add(20, 100)
	b.Saw(100 + staleBound)
	if b.Wanted(false) {
		t.Error("a new one is wanted at the measure")
	}
}
