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
