package storekit_test

import (
	"testing"

	"github.com/postbag/postbag/store/storekit"
)

func TestEpochsAreAboveAllThatCanBeCountedAndLeaveRoomToCountOn(t *testing.T) {
	t.Parallel()
	const low, high = int64(1) << 61, int64(1) << 62
	seen := map[int64]bool{}
	var ones, zeros int64
	for range 10_000 {
		e := storekit.NewEpoch()
		if e < low || e >= high {
			t.Fatalf("epoch %d is not between %d and %d", e, low, high)
		}
		if seen[e] {
			t.Fatalf("epoch %d was drawn twice", e)
		}
		seen[e] = true
		ones, zeros = ones|e, zeros|^e
	}
	if fixed := ^(ones & zeros) & (low - 1); fixed != 0 {
		t.Errorf("the bits %x are the same in all epochs", fixed)
	}
}
