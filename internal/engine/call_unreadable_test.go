package engine_test

import (
	"testing"
	"time"

	"github.com/postbag/postbag/internal/engine"
	"github.com/postbag/postbag/store"
)

// A row that cannot be read had the attempts counted that the quick retries of others
// take, so that it could be dead at its first.
func TestAnUnreadableRowHasOneAttemptCountedAtATime(t *testing.T) {
	t.Parallel()
	d := oneShard(t, engine.Config{Retry: engine.Retry{MaxAttempts: 3, Quick: 3, Min: time.Second, Max: time.Second}})
	m := message(1, 1)
	m.Err = errRead
	d.feed("1", m)
	d.noCall()
	s := d.settle()
	equal(t, "rows", len(s.Park), 1)
	equal(t, "state", s.Park[0].State, store.ParkRetrying)
	equal(t, "attempts", s.Park[0].Attempts, 1)
	for want := 2; want <= 3; want++ {
		again := parked(1, 1, want-1)
		again.Err = errRead
		d.f.NextDue(d.now, time.Second)
		d.now += time.Second
		d.lot(again)
		d.noCall()
		s = d.settle()
		equal(t, "attempts", s.Park[0].Attempts, want)
		equal(t, "dead", s.Park[0].State == store.ParkDead, want == 3)
	}
}
