package outagelog_test

import (
	"testing"
	"time"

	"github.com/postbag/postbag/internal/outagelog"
)

// log counts what an Outage has a log tell, on a clock that goes by hand.
type log struct {
	outagelog.Outage

	now                           time.Time
	begins, lasts, changes, works int
}

func newLog() *log { return &log{now: noon} }

// fails has it fail once, and lets a time pass.
func (l *log) fails(reason string, then time.Duration) {
	switch l.Fails(l.now, reason) {
	case outagelog.Begins:
		l.begins++
	case outagelog.Lasts:
		l.lasts++
	case outagelog.Nothing:
		if l.Changes(l.now, reason) {
			l.changes++
		}
	}
	l.now = l.now.Add(then)
}

func (l *log) itWorks() {
	if _, tell := l.Works(l.now); tell {
		l.works++
	}
}

// failsFor has it fail twice a second.
func (l *log) failsFor(d time.Duration, reason string) {
	for end := l.now.Add(d); l.now.Before(end); {
		l.fails(reason, time.Second/2)
	}
}

// want compares what was told with what it should be, and sets the counts to 0.
func (l *log) want(t *testing.T, what string, begins, lasts, changes, works int) {
	t.Helper()
	if l.begins != begins || l.lasts != lasts || l.changes != changes || l.works != works {
		t.Errorf("%s: told that it begins, lasts, changes, works %d, %d, %d, %d times, want %d, %d, %d, %d",
			what, l.begins, l.lasts, l.changes, l.works, begins, lasts, changes, works)
	}
	l.begins, l.lasts, l.changes, l.works = 0, 0, 0, 0
}

func TestAnOutageThatLastsIsToldOnceAMinute(t *testing.T) {
	t.Parallel()
	l := newLog()
	l.failsFor(10*time.Minute, "connection refused")
	l.want(t, "in ten minutes", 1, 9, 0, 0)
	if d := l.For(l.now); d != 10*time.Minute || !l.Failing() {
		t.Errorf("it fails: %v, for %v, want 10 min", l.Failing(), d)
	}
	after, tell := l.Works(l.now.Add(123_456 * time.Microsecond))
	if want := 10*time.Minute + 123*time.Millisecond; after != want || !tell || l.Failing() {
		t.Errorf("it works after %v, which is told: %v; it fails: %v; want %v", after, tell, l.Failing(), want)
	}
	if _, tell := l.Works(l.now); tell {
		t.Error("that it works is told twice")
	}
}

func TestAnotherReasonOfAnOutageIsToldAtOnceIfAskedFor(t *testing.T) {
	t.Parallel()
	l := newLog()
	for range 20 {
		l.fails("dial from port 40000: connection refused", 0)
		l.fails("permission denied", 0)
		l.fails("dial from port 50000: connection refused", 0)
	}
	l.want(t, "two reasons by turns", 1, 0, 1, 0)
	for n := range 1000 {
		l.fails(distinct(n), 0)
	}
	l.want(t, "a thousand reasons", 0, 0, outagelog.MaxKinds-2, 0)
}

func TestOnlyWhatIsToldToFailIsToldToChange(t *testing.T) {
	t.Parallel()
	l := newLog()
	if l.Changes(l.now, "connection refused") {
		t.Error("what never failed is told to fail for another reason")
	}
	l.fails("the disk is full", time.Second)
	l.itWorks()
	l.fails("the disk is full", time.Second)
	if l.Changes(l.now, "connection refused") {
		t.Error("what is not told to fail is told to fail for another reason")
	}
}

func TestAnOutageThatComesBackSoonForTheSameReasonIsToldOnlyIfItLasts(t *testing.T) {
	t.Parallel()
	l := newLog()
	for range 20 {
		l.fails("the disk is full", time.Second)
		l.itWorks()
	}
	l.want(t, "twenty times", 1, 0, 0, 1)
	l.fails("connection refused", time.Second)
	l.itWorks()
	l.want(t, "another reason", 1, 0, 0, 1)
	l.failsFor(outagelog.Flicker, "connection refused")
	l.want(t, "as long as it may still flicker", 0, 0, 0, 0)
	l.failsFor(outagelog.Flicker, "connection refused")
	l.itWorks()
	l.want(t, "one that lasts", 1, 0, 0, 1)
}

func TestAnOutageThatComesBackLateIsToldAgain(t *testing.T) {
	t.Parallel()
	l := newLog()
	for range 3 {
		l.fails("the disk is full", time.Second)
		l.itWorks()
		l.now = l.now.Add(outagelog.Flicker)
	}
	l.want(t, "with pauses", 3, 0, 0, 3)
}

func TestAnOutageFlickersFromItsEndAndFromWhenItWasTold(t *testing.T) {
	t.Parallel()
	l := newLog()
	l.failsFor(30*time.Second, "the disk is full")
	l.itWorks()
	l.now = l.now.Add(outagelog.Flicker - time.Second)
	l.fails("the disk is full", 0)
	l.itWorks()
	l.want(t, "soon after its end", 1, 0, 0, 1)
	l.now = l.now.Add(outagelog.Flicker)
	l.failsFor(15*time.Second, "the disk is full")
	l.itWorks()
	l.fails("the disk is full", 0)
	l.itWorks()
	l.want(t, "late, and then soon", 1, 0, 0, 1)
}

// It is told within the outage if it fails for another reason than those that were told before.
func TestAnOutageThatIsNotToldIsToldOnceItsReasonIsNew(t *testing.T) {
	t.Parallel()
	l := newLog()
	l.fails("the disk is full", time.Second)
	l.itWorks()
	l.fails("the disk is full", time.Second)
	l.want(t, "the same reason", 1, 0, 0, 1)
	l.fails("", time.Second)
	l.want(t, "a reason that is not known", 0, 0, 0, 0)
	l.fails("connection refused", time.Second)
	l.itWorks()
	l.want(t, "a new reason", 1, 0, 0, 1)
}

func TestAnOutageThatFlickersIsToldOnceAMinute(t *testing.T) {
	t.Parallel()
	l := newLog()
	for range 180 {
		l.fails("the disk is full", time.Second)
		l.itWorks()
	}
	l.want(t, "in three minutes", 3, 0, 0, 3)
}

// Two tables on a full disk fail by turns, with others that work between them.
func TestOutagesWhoseReasonsTakeTurnsDoNotFloodTheLog(t *testing.T) {
	t.Parallel()
	for kinds, want := range map[int]int{2: 2, outagelog.MaxKinds + 4: outagelog.MaxKinds} {
		l := newLog()
		for n := range 10 * kinds {
			l.fails(distinct(n%kinds), 50*time.Millisecond)
			l.itWorks()
		}
		l.want(t, "reasons by turns", want, 0, 0, want)
	}
}
