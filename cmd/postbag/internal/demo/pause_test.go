package demo

import (
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// The table's one pause was the longest, whatever it was for.
func TestEachPauseOfDeliveryIsCountedUnderItsFault(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var p pauses
		pass := func(d time.Duration) { <-time.After(d) }
		store := func() { p.stored(time.Now().Add(-time.Minute), time.Now()) }
		if !p.over() {
			t.Error("a fault lasts before there is one")
		}
		for range 10 {
			store()
			pass(100 * time.Millisecond)
		}
		pass(600 * time.Millisecond) // nobody knows why
		store()
		p.begin("the broker was away", "until it was tried again")
		pass(2 * time.Second)
		if p.over() {
			t.Error("a fault that lasts is over")
		}
		p.end()
		pass(700 * time.Millisecond)
		if p.over() {
			t.Error("nothing was stored, and the fault is over")
		}
		store()
		if !p.over() {
			t.Error("something was stored, and the fault is not over")
		}
		p.begin("the relay was killed", "until another took over")
		p.end()
		pass(300 * time.Millisecond) // too short to be noticed
		store()
		pass(5 * time.Second)
		p.stored(time.Now(), time.Now()) // nothing had waited
		want := []Pause{
			{Cause: noFault, Seconds: 0.7},
			{Cause: "the broker was away", Why: "until it was tried again", Seconds: 2.7, After: 0.7},
		}
		if got := p.list(); !slices.Equal(got, want) {
			t.Errorf("the pauses are %+v, want %+v", got, want)
		}
		if got := want[1].note(); !strings.Contains(got, "the broker was away; after that it took 0.7 s until it was tried again") {
			t.Errorf("its note is %q", got)
		}
	})
}
