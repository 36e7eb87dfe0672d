package engine_test

import (
	"testing"
	"time"

	"github.com/postbag/postbag/broker"
	"github.com/postbag/postbag/internal/engine"
	"github.com/postbag/postbag/store"
)

// down is a desk whose destination has just failed for message 1.
func down(t *testing.T, c engine.Config, o broker.Outcome) *desk {
	t.Helper()
	c.Batch = 2
	d := oneShard(t, c)
	d.feed("1", messages(1, 1, 2, 3, 4)...)
	d.answer(d.call(1, 2), o, broker.NotSent)
	equal(t, "circuit", d.f.Circuit(), engine.Open)
	return d
}

// wait lets the circuit's pause pass and returns how long it was.
func (d *desk) wait() time.Duration {
	d.t.Helper()
	began := d.now
	for d.f.PauseEnds() > d.now {
		at := d.f.Wake(d.now, false, true)
		if at <= d.now || at > d.f.PauseEnds() {
			d.t.Fatalf("now is %v, wakes at %v, the pause ends at %v", d.now, at, d.f.PauseEnds())
		}
		d.now = at
		d.f.Slow(d.now)
	}
	return d.now - began
}

func TestAnOutageStopsAllSendingUntilOneTrialSucceeds(t *testing.T) {
	t.Parallel()
	d := down(t, engine.Config{}, broker.Unavailable)
	d.noCall()
	equal(t, "check too early", d.f.Check(d.now), engine.NoCheck)
	d.wait()
	equal(t, "check", d.f.Check(d.now), engine.TryOne)
	c := d.f.Trial(d.now)
	equal(t, "trial", len(c.Items), 1)
	d.noCall()
	d.answer(c, broker.Accepted)
	equal(t, "circuit", d.f.Circuit(), engine.Closed)
	d.deliver(2, 3)
	d.deliver(4)
	s := d.settle()
	equal(t, "parked", len(s.Park), 0)
}

func TestAnOutageCountsNoAttempt(t *testing.T) {
	t.Parallel()
	d := down(t, engine.Config{}, broker.Unavailable)
	for range 30 {
		d.wait()
		d.f.Check(d.now)
		c := d.f.Trial(d.now)
		equal(t, "attempt", c.Items[0].Attempt, 1)
		d.answer(c, broker.Unavailable)
	}
	equal(t, "parked", d.f.Stats().Parked, 0)
}

func TestThePauseGrowsUpToItsBound(t *testing.T) {
	t.Parallel()
	d := down(t, engine.Config{CircuitMax: 3 * time.Second, Rand: func() float64 { return 1 }}, broker.Unavailable)
	want := 100 * ms
	for range 10 {
		equal(t, "pause", d.wait(), want)
		d.f.Check(d.now)
		d.answer(d.f.Trial(d.now), broker.Unavailable)
		want = min(2*want, 3*time.Second)
	}
}

func TestADestinationMayAskForALongerPause(t *testing.T) {
	t.Parallel()
	d := oneShard(t, engine.Config{AfterMax: time.Minute})
	d.feed("1", messages(1, 1)...)
	c := d.call(1)
	d.f.Answered(d.now, c.ID, []engine.Answer{{Outcome: broker.Unavailable, After: time.Hour}})
	equal(t, "pause, no longer than AfterMax", d.wait(), time.Minute)
}

func TestAProberIsAskedBeforeAMessageIsTried(t *testing.T) {
	t.Parallel()
	d := down(t, engine.Config{Prober: true}, broker.Unavailable)
	d.wait()
	equal(t, "check", d.f.Check(d.now), engine.AskProber)
	d.f.Probed(d.now, broker.Unavailable)
	equal(t, "circuit", d.f.Circuit(), engine.Open)
	d.wait()
	equal(t, "check", d.f.Check(d.now), engine.AskProber)
	d.f.Probed(d.now, broker.Accepted)
	d.call(1, 2)
}

func TestAMisconfiguredMessageIsTriedItself(t *testing.T) {
	t.Parallel()
	d := oneShard(t, engine.Config{Prober: true, Calls: 2, Batch: 1})
	d.feed("1", messages(1, 1, 2, 3)...)
	one, two := d.call(1), d.call(2)
	d.answer(one, broker.NotSent)
	d.answer(two, broker.Misconfigured)
	d.wait()
	equal(t, "check", d.f.Check(d.now), engine.TryOne)
	c := d.f.Trial(d.now)
	equal(t, "trial", c.Items[0].Seq, int64(2))
	d.answer(c, broker.Accepted)
	d.deliver(1)
	d.deliver(3)
}

func TestAnswersOfEarlierCallsDoNotChangeAnOpenCircuit(t *testing.T) {
	t.Parallel()
	d := oneShard(t, engine.Config{Calls: 4, Batch: 1})
	d.feed("1", messages(1, 1, 2, 3, 4)...)
	calls := []*engine.Call{d.call(1), d.call(2), d.call(3), d.call(4)}
	d.answer(calls[0], broker.Unavailable)
	until := d.f.Wake(d.now, false, true)
	d.answer(calls[1], broker.Unavailable)
	d.answer(calls[2], broker.Accepted)
	d.answer(calls[3], broker.Unavailable)
	equal(t, "pause", d.f.Wake(d.now, false, true), until)
	equal(t, "circuit", d.f.Circuit(), engine.Open)
}

func TestAPausedFlowTriesNothing(t *testing.T) {
	t.Parallel()
	d := down(t, engine.Config{}, broker.Unavailable)
	d.f.Pause(true)
	d.now += time.Minute
	equal(t, "check", d.f.Check(d.now), engine.NoCheck)
	d.f.Pause(false)
	equal(t, "check", d.f.Check(d.now), engine.TryOne)
}

// Wake named the end of the circuit's pause, which was over, although a paused
// flow does not check: its caller spun.
func TestAPausedFlowWithAnOpenCircuitDoesNotWakeItsCaller(t *testing.T) {
	t.Parallel()
	d := down(t, engine.Config{}, broker.Unavailable)
	d.f.Pause(true)
	d.now += time.Minute
	d.f.Slow(d.now)
	if at := d.f.Wake(d.now, false, true); at <= d.now {
		t.Fatalf("now is %v, wakes at %v", d.now, at)
	}
}

// A message that loses every answer was the only one that was tried when the pause
// was over, and so nothing else was ever sent.
func TestAMessageWithoutAnswersDelaysNoOthers(t *testing.T) {
	t.Parallel()
	d := oneShard(t, engine.Config{Batch: 8})
	d.feed("1", messages(1, 1)...)
	sent := map[int64]int{}
	d.poison(d.call(1), sent)
	d.wait()
	d.f.Check(d.now)
	d.f.Probed(d.now, broker.Accepted) // so that there is something else to try
	d.feed("2", messages(2, 2, 3, 4, 5, 6, 7, 8)...)
	for range 100 {
		switch d.f.Circuit() {
		case engine.Open:
			d.wait()
			d.f.Check(d.now)
		case engine.Probing:
			d.poison(d.f.Trial(d.now), sent)
		case engine.Closed:
			if c := d.f.Next(d.now); c != nil {
				d.poison(c, sent)
			}
		}
		d.now += 20 * ms
		d.land(d.f.Turn(d.now))
	}
	for seq := int64(2); seq <= 8; seq++ {
		if sent[seq] == 0 {
			t.Errorf("message %d was never accepted", seq)
		}
	}
	equal(t, "unsettled", d.f.Stats().Unsettled, 0)
	equal(t, "parked", d.f.Stats().Parked, 1)
}

// poison answers a call: message 1 makes it fail.
func (d *desk) poison(c *engine.Call, sent map[int64]int) {
	answers := make([]engine.Answer, len(c.Items))
	for i, item := range c.Items {
		if item.Seq == 1 {
			clear(answers)
			break
		}
		answers[i].Outcome = broker.Accepted
	}
	for i, item := range c.Items {
		if answers[i].Outcome == broker.Accepted {
			sent[item.Seq]++
		}
	}
	d.f.Answered(d.now, c.ID, answers)
	d.audit()
}

// A probe that succeeds where messages fail made every pause the shortest one.
func TestASuccessfulProbeDoesNotResetTheGrowingPause(t *testing.T) {
	t.Parallel()
	d := down(t, engine.Config{Prober: true, Rand: func() float64 { return 1 }}, broker.Unavailable)
	pause := time.Duration(0)
	for range 8 {
		pause = d.wait()
		d.f.Check(d.now)
		d.f.Probed(d.now, broker.Accepted)
		d.answer(d.f.Next(d.now), broker.Unavailable)
	}
	equal(t, "pause", pause, 1000*ms)
}

// The message of a trial was sent beyond InFlight.
func TestATrialStaysWithinInFlight(t *testing.T) {
	t.Parallel()
	d := oneShard(t, engine.Config{InFlight: 3, Batch: 1, Calls: 3})
	d.feed("1", messages(1, 1, 2, 3, 4)...)
	one, two := d.call(1), d.call(2)
	d.answer(d.call(3), broker.Unknown)
	for range 2 {
		d.wait()
		equal(t, "check", d.f.Check(d.now), engine.TryOne)
		c := d.f.Trial(d.now)
		equal(t, "trial", c.Items[0].Seq, int64(3))
		d.answer(one, broker.Accepted)
		d.answer(c, broker.Unknown)
	}
	equal(t, "circuit", d.f.Circuit(), engine.Open)
	d.wait()
	equal(t, "check", d.f.Check(d.now), engine.TryOne)
	if c := d.f.Trial(d.now); c != nil { // three wait for answers or settlements
		t.Fatalf("message %d is tried", c.Items[0].Seq)
	}
	d.answer(two, broker.Accepted)
}

func TestACallInFlightWhenTheCircuitOpenedMayLengthenThePause(t *testing.T) {
	t.Parallel()
	d := oneShard(t, engine.Config{Batch: 1, Calls: 2, AfterMax: time.Minute})
	d.feed("1", messages(1, 1, 2)...)
	first, second := d.call(1), d.call(2)
	d.answer(first, broker.Unavailable)
	d.f.Answered(d.now, second.ID, []engine.Answer{{Outcome: broker.Unavailable, After: 30 * time.Second}})
	equal(t, "pause", d.wait(), 30*time.Second)
	equal(t, "outages", d.f.Stats().Opened, 1)
}

func TestAnOutageIsCountedOnceHoweverLongItIs(t *testing.T) {
	t.Parallel()
	d := down(t, engine.Config{}, broker.Unavailable)
	for range 5 {
		d.wait()
		d.f.Check(d.now)
		d.answer(d.f.Trial(d.now), broker.Unavailable)
	}
	equal(t, "outages", d.f.Stats().Opened, 1)
}

func TestAMessageWithLostAnswersIsNotParkedForEarlierAcceptances(t *testing.T) {
	t.Parallel()
	d := oneShard(t, engine.Config{Batch: 1})
	d.feed("1", messages(1, 1, 2)...)
	d.deliver(1)
	d.answer(d.call(2), broker.Unknown)
	for range 5 {
		d.wait()
		d.f.Check(d.now)
		d.answer(d.f.Trial(d.now), broker.Unknown)
	}
	s := d.settle()
	equal(t, "parked", len(s.Park), 0)
}

// One message for which the connection is cut opens the circuit. It was all that had been read: nothing else was read any more,
// so that nothing could show that the destination works, and the whole subscription stood still.
func TestASingleUnansweredMessageDoesNotStopReading(t *testing.T) {
	t.Parallel()
	d := oneShard(t, engine.Config{})
	d.feed("1", messages(1, 1)...)
	d.answer(d.call(1), broker.Unknown)
	equal(t, "circuit", d.f.Circuit(), engine.Open)
	d.now += time.Second
	d.feed("2", messages(2, 2, 3)...)
	d.now += time.Second
	equal(t, "messages asked for while there is something to try", asked(d.f.Turn(d.now)), 0)
	equal(t, "check", d.f.Check(d.now), engine.TryOne)
	c := d.f.Trial(d.now)
	equal(t, "the message that is tried", c.Items[0].Seq, 2)
	d.answer(c, broker.Accepted)
	equal(t, "circuit", d.f.Circuit(), engine.Closed)
}

// In an outage that is no message's fault nothing more is read than can be tried.
func TestDuringAnOutageNoMoreIsReadThanCanBeTried(t *testing.T) {
	t.Parallel()
	d := down(t, engine.Config{}, broker.Unavailable)
	for range 5 {
		d.wait()
		d.f.Check(d.now)
		d.answer(d.f.Trial(d.now), broker.Unavailable)
		equal(t, "messages asked for", asked(d.f.Turn(d.now)), 0)
	}
}

// asked is how many messages a turn asks for.
func asked(t store.Turn) (n int) {
	for i := range t.Read {
		n += t.Read[i].Limit
	}
	return n
}
