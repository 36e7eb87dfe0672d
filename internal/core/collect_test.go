package core_test

import (
	"testing"
	"time"
)

func TestAnswersOfACallThatGoesOnAreCollectedNowAndThen(t *testing.T) {
	t.Parallel()
	c, f := newLaneDesk()
	c.Step(0) // which sends a heartbeat
	c.Ongoing(0, f, 1)
	c.Ongoing(30*time.Millisecond, f, 2)
	for _, look := range []struct {
		at   time.Duration
		want []int64
	}{
		{49 * time.Millisecond, nil},
		{50 * time.Millisecond, []int64{1}},
		{80 * time.Millisecond, []int64{2}},
		{99 * time.Millisecond, nil},
		{200 * time.Millisecond, []int64{1, 2}},
		{200 * time.Millisecond, nil},
	} {
		calls := c.Collect(look.at)
		if len(calls) != len(look.want) {
			t.Fatalf("after %v answers of %d calls are collected, not of %v", look.at, len(calls), look.want)
		}
		for i, id := range look.want {
			if calls[i].Call != id || calls[i].Flow != f {
				t.Errorf("after %v answers of call %d are collected, not of %d", look.at, calls[i].Call, id)
			}
		}
	}
	if d := c.Wait(240 * time.Millisecond); d != 10*time.Millisecond {
		t.Errorf("with a call that goes on it waits %v", d)
	}
	c.Answered(240*time.Millisecond, f, 1, nil)
	if calls := c.Collect(time.Second); len(calls) != 1 || calls[0].Call != 2 {
		t.Errorf("after the answer to the first, answers of %+v are collected", calls)
	}
}

func TestAWaitIsNeverSoShortThatItSpins(t *testing.T) {
	t.Parallel()
	c, f := newLaneDesk()
	c.Ongoing(0, f, 1)
	if d := c.Wait(time.Minute); d != 200*time.Microsecond {
		t.Errorf("what is late is waited for %v", d)
	}
}
