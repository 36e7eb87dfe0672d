package engine_test

import (
	"testing"
	"time"

	"github.com/postbag/postbag/broker"
	"github.com/postbag/postbag/internal/engine"
	"github.com/postbag/postbag/store"
)

func TestANewRateBringsNoBurstAndADebtStays(t *testing.T) {
	t.Parallel()
	d := oneShard(t, engine.Config{Rate: engine.Rate{Messages: 10, Burst: 3}})
	d.feed("1", messages(1, 1, 2, 3, 4, 5, 6, 7, 8)...)
	d.deliver(1, 2, 3)
	d.f.Tune(d.now, engine.Config{Rate: engine.Rate{Messages: 100, Burst: 50}})
	d.noCall() // the burst is used
	d.now += 11 * ms
	d.deliver(4)
	d.f.Tune(d.now, engine.Config{Rate: engine.Rate{Messages: 100, Burst: 50, Shared: true}})
	d.noCall()
	d.f.Tune(d.now, engine.Config{})
	d.deliver(5, 6, 7, 8) // nothing bounds it
}

func TestARateWhereThereWasNoneBeginsEmpty(t *testing.T) {
	t.Parallel()
	d := oneShard(t, engine.Config{})
	d.feed("1", messages(1, 1)...)
	d.deliver(1)
	d.f.Tune(d.now, engine.Config{Rate: engine.Rate{Messages: 10, Burst: 5}})
	d.feed("2", messages(2, 2, 3)...)
	d.noCall()
	d.now += 101 * ms
	d.deliver(2)
	if s := d.f.Stats(); s.Throttled <= 0 {
		t.Errorf("it was held back for %v", s.Throttled)
	}
	before := d.f.Stats().Throttled
	d.f.Tune(d.now, engine.Config{})
	if s := d.f.Stats(); s.Throttled < before {
		t.Errorf("it was held back for %v, and before for %v", s.Throttled, before)
	}
}

func TestWhatIsOutAboveANewBoundComesBackBeforeMoreIsSent(t *testing.T) {
	t.Parallel()
	d := oneShard(t, engine.Config{InFlight: 4, Batch: 4})
	d.feed("1", messages(1, 1, 2, 3, 4, 5, 6)...)
	c := d.call(1, 2, 3, 4)
	d.f.Tune(d.now, engine.Config{InFlight: 2, Batch: 1})
	d.noCall()
	d.audit()
	d.answer(c, broker.Accepted)
	d.now += time.Second
	d.settle()
	d.call(5)
	d.call(6)
	d.audit()
}

func TestAttemptsAreThoseOfNow(t *testing.T) {
	t.Parallel()
	d := oneShard(t, engine.Config{Retry: engine.Retry{MaxAttempts: 20}})
	d.feed("1", messages(1, 1, 2)...)
	c := d.call(1, 2)
	d.f.Tune(d.now, engine.Config{Retry: engine.Retry{MaxAttempts: 1}})
	d.answer(c, broker.Rejected)
	d.now += time.Second
	for _, p := range d.settle().Park {
		if p.State != store.ParkDead || p.Cause != store.CauseAttempts {
			t.Errorf("after its only attempt message %d is %+v", p.Seq, p)
		}
	}
}

func TestAnAgeThatIsSetEndsWhatIsOlder(t *testing.T) {
	t.Parallel()
	d := oneShard(t, engine.Config{})
	now := time.Date(2026, 1, 31, 12, 0, 0, 0, time.UTC)
	d.f.Clock(d.now, now)
	d.f.Tune(d.now, engine.Config{Retry: engine.Retry{MaxAge: time.Minute}})
	old := messages(1, 1)
	old[0].At = now.Add(-time.Hour)
	d.feed("1", old...)
	d.noCall()
	d.now += time.Second
	if p := d.settle().Park; len(p) != 1 || p[0].Cause != store.CauseExpired {
		t.Errorf("a message that is too old now is %+v", p)
	}
}

func TestALargeMessageIsPaidForAtTheNewRate(t *testing.T) {
	t.Parallel()
	d := oneShard(t, engine.Config{Rate: engine.Rate{Bytes: 1000, BurstBytes: 100}})
	d.feed("1", ofSizes(1, 50, 600, 0, 10)...)
	d.deliver(1)
	d.now += 51 * ms
	d.deliver(2) // 500 bytes too much
	d.f.Tune(d.now, engine.Config{Rate: engine.Rate{Bytes: 2000, BurstBytes: 100}})
	d.noCall()
	d.now += 240 * ms
	d.noCall()
	d.now += 30 * ms
	d.deliver(3, 4)
}

func TestALowerBoundHoldsForCountedCallsWhileMoreWaits(t *testing.T) {
	t.Parallel()
	d := counts(t, engine.Config{InFlight: 6, Calls: 6})
	keys := make([]int, 60)
	for i := range keys {
		keys[i] = i + 1
	}
	d.feed("1", messages(1, keys...)...)
	var calls []*engine.Call
	most := 0
	for i := range 40 {
		for c := d.f.Next(d.now); c != nil; c = d.f.Next(d.now) {
			calls = append(calls, c)
		}
		if turn := d.f.Turn(d.now); !turn.Empty() {
			d.land(turn)
		}
		d.now += 60 * ms
		if i == 5 {
			if n := d.f.Stats().Unsettled; n < 3 {
				t.Fatalf("%d messages are out, want some", n)
			}
			d.f.Tune(d.now, engine.Config{InFlight: 1, Calls: 6, CountFirst: true, Batch: 1, Retry: engine.Retry{Min: time.Second, Max: time.Minute, MaxAttempts: 3}})
		}
		if i > 5 && len(calls) > 0 {
			d.answer(calls[0], broker.Accepted)
			calls = calls[1:]
		}
		if i > 30 {
			most = max(most, d.f.Stats().Unsettled)
		}
	}
	if most > 1 {
		t.Errorf("%d messages are out while more wait, and one may be", most)
	}
	if sent := d.f.Stats().Sent; sent < 10 {
		t.Errorf("only %d messages were sent", sent)
	}
}
