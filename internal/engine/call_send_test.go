package engine_test

import (
	"testing"
	"time"

	"github.com/postbag/postbag/broker"
	"github.com/postbag/postbag/internal/engine"
	"github.com/postbag/postbag/store"
)

func TestACallIsBoundedInMessagesAndBytes(t *testing.T) {
	t.Parallel()
	d := oneShard(t, engine.Config{Batch: 3, BatchBytes: 5 * weight / 2})
	msgs := messages(1, 1, 2, 3, 4, 5)
	msgs[2].Payload = make([]byte, 10*weight)
	d.feed("1", msgs...)
	d.deliver(1, 2) // 20 bytes, 120 with the next
	d.deliver(3)    // larger than any call, and alone
	d.deliver(4, 5)
}

func TestCallsAreBounded(t *testing.T) {
	t.Parallel()
	d := oneShard(t, engine.Config{Batch: 1, Calls: 2})
	d.feed("1", messages(1, 1, 2, 3)...)
	one := d.call(1)
	d.call(2)
	d.noCall()
	d.answer(one, broker.Accepted)
	d.call(3)
}

func TestNothingIsSentAfterTheLeasesAreOver(t *testing.T) {
	t.Parallel()
	d := oneShard(t, engine.Config{})
	d.f.Expire(5 * time.Second)
	d.feed("1", messages(1, 1)...)
	d.now = 5 * time.Second
	d.noCall()
	d.f.Expire(6 * time.Second)
	d.deliver(1)
}

func TestNothingIsSentWhilePaused(t *testing.T) {
	t.Parallel()
	d := oneShard(t, engine.Config{})
	d.feed("1", messages(1, 1)...)
	d.f.Pause(true)
	d.noCall()
	d.f.Pause(false)
	d.deliver(1)
}

func TestNewMessagesAndRetriesShareACall(t *testing.T) {
	t.Parallel()
	d := newDesk(t, engine.Config{Batch: 4, RetryBatch: 1})
	d.f.Add(lease(0, 4096, 1, 1), "0", store.Blocks{Keys: []uint64{keyHash(11), keyHash(12)}})
	d.lot(parked(1, 11, 1), parked(2, 12, 1))
	d.feed("1", messages(5, 1, 2, 3, 4, 5, 6)...)
	d.deliver(5, 1, 6, 7)
	d.deliver(8, 2, 9, 10)
}

func TestRetriesAloneFillACall(t *testing.T) {
	t.Parallel()
	d := newDesk(t, engine.Config{Batch: 4, RetryBatch: 1})
	d.f.Add(lease(0, 4096, 1, 1), "0", store.Blocks{Keys: []uint64{keyHash(11), keyHash(12)}})
	d.lot(parked(1, 11, 1), parked(2, 12, 1))
	d.deliver(1, 2)
}

func TestADestinationMayAnswerOneByOne(t *testing.T) {
	t.Parallel()
	d := oneShard(t, engine.Config{})
	d.feed("1", messages(1, 1, 1, 2, 2)...)
	c := d.call(1, 3)
	d.f.Reported(d.now, c.ID, 1, engine.Answer{Outcome: broker.Accepted})
	d.audit()
	d.deliver(4)
	d.f.Reported(d.now, c.ID, 1, engine.Answer{Outcome: broker.Rejected}) // a second one says nothing
	d.f.Reported(d.now, c.ID, 7, engine.Answer{Outcome: broker.Accepted})
	d.f.Answered(d.now, c.ID, []engine.Answer{{Outcome: broker.Accepted}, {Outcome: broker.Rejected}})
	d.f.Answered(d.now, c.ID, nil)
	d.audit()
	d.deliver(2)
	equal(t, "accepted", d.f.Stats().Accepted, int64(4))
	d.settle()
	d.empty()
}

func TestAnOutageIsSeenBeforeTheCallEnds(t *testing.T) {
	t.Parallel()
	d := oneShard(t, engine.Config{Batch: 2})
	d.feed("1", messages(1, 1, 2, 3)...)
	c := d.call(1, 2)
	d.f.Reported(d.now, c.ID, 0, engine.Answer{Outcome: broker.Unavailable})
	equal(t, "circuit", d.f.Circuit(), engine.Open)
	d.noCall()
	d.f.Answered(d.now, c.ID, nil)
	d.audit()
}

func TestQuickAttemptsFollowAtOnce(t *testing.T) {
	t.Parallel()
	d := oneShard(t, engine.Config{Retry: engine.Retry{Quick: 2}})
	d.feed("1", messages(1, 1, 1)...)
	for attempt := 1; attempt <= 3; attempt++ {
		c := d.call(1)
		equal(t, "attempt", c.Items[0].Attempt, attempt)
		d.answer(c, broker.Rejected)
	}
	d.noCall()
	s := d.settle()
	equal(t, "attempts", s.Park[0].Attempts, 3)
	equal(t, "behind it", s.Park[1].State, store.ParkBlocked)
}

func TestAttemptsRunOut(t *testing.T) {
	t.Parallel()
	for _, quick := range []int{0, 5} {
		d := oneShard(t, engine.Config{Retry: engine.Retry{MaxAttempts: 2, Quick: quick}})
		d.feed("1", messages(1, 1)...)
		d.answer(d.call(1), broker.Rejected)
		if quick == 0 {
			equal(t, "state", d.settle().Park[0].State, store.ParkRetrying)
			d.lot(parked(1, 1, 1))
		}
		d.answer(d.call(1), broker.Rejected)
		s := d.settle()
		equal(t, "state", s.Park[0].State, store.ParkDead)
		equal(t, "attempts", s.Park[0].Attempts, 2)
		equal(t, "dead", d.f.Stats().Dead, int64(1))
	}
}

func TestBackOffGrowsAndIsBounded(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		attempts int
		chance   float64
		after    time.Duration
		want     time.Duration
	}{
		{0, 1, 0, 10 * time.Second},
		{0, 0, 0, 5 * time.Second},
		{1, 1, 0, 20 * time.Second},
		{3, 1, 0, 80 * time.Second},
		{15, 1, 0, 10 * time.Minute},
		{0, 1, 30 * time.Second, 30 * time.Second},
		{0, 1, 90 * time.Minute, time.Hour},
	} {
		d := oneShard(t, engine.Config{Rand: func() float64 { return c.chance }})
		d.lot(parked(1, 1, c.attempts))
		call := d.call(1)
		d.f.Answered(d.now, call.ID, []engine.Answer{{Outcome: broker.Rejected, After: c.after}})
		equal(t, "delay", d.settle().Park[0].Delay, c.want)
	}
}
