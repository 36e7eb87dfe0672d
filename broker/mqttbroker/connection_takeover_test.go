package mqttbroker

import (
	"testing"
	"time"
)

func TestTheConnectionIsLeftToARivalForLongerEachTime(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	var rivals takeovers
	lose := func(lasted, want time.Duration) {
		t.Helper()
		now = now.Add(lasted)
		if rivals.lost(now.Add(-lasted), now); rivals.until.Sub(now) != want {
			t.Errorf("the destination stays away for %v, want %v", rivals.until.Sub(now), want)
		}
	}
	for _, seconds := range []int{1, 2, 4, 8, 16, 32, 60, 60, 60, 60, 60, 60, 60, 60} {
		lose(time.Minute, time.Duration(seconds)*time.Second)
	}
	lose(5*time.Minute, time.Second) // the rival had left
	lose(0, 2*time.Second)
}

func TestAConnectionThatIsClosedWithoutAWordIsARivalsIfNothingWasSentAndItIsTheTenth(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	var rivals takeovers
	cut := func(lasted time.Duration, unused bool, want time.Duration) {
		t.Helper()
		now = now.Add(time.Hour)
		rivals.until = now
		if rivals.cut(now.Add(-lasted), now, unused); rivals.until.Sub(now) != want {
			t.Errorf("the destination stays away for %v, want %v", rivals.until.Sub(now), want)
		}
	}
	for range 9 {
		cut(time.Minute, true, 0)
	}
	cut(0, false, 0)
	cut(0, true, time.Second)
	cut(time.Minute, true, 2*time.Second)
	cut(5*time.Minute, true, 0)
}
