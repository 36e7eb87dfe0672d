package login

import (
	"strconv"
	"testing"
	"testing/synctest"
	"time"
)

func TestWhatIsRememberedIsBounded(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		l, s, a := newLimit(10, time.Second), newSessions(time.Hour, time.Hour), attempts{open: make(map[string]attempt)}
		for i := range 3 * mostLimited {
			l.take(strconv.Itoa(i))
		}
		if len(l.tried) != mostLimited || l.latest.Len() != mostLimited {
			t.Errorf("a limit remembers %d and %d names", len(l.tried), l.latest.Len())
		}
		for i := range mostLimited {
			l.take(strconv.Itoa(i))
			if len(l.tried) > mostLimited {
				t.Fatalf("a limit remembers %d names", len(l.tried))
			}
		}
		for i := range mostAttempts + 100 {
			a.begin(strconv.Itoa(i))
		}
		if len(a.open) != mostAttempts {
			t.Errorf("%d attempts are under way", len(a.open))
		}
		for i := range mostSessions {
			s.open[[32]byte{byte(i), byte(i >> 8), 1}] = &session{name: strconv.Itoa(i), began: time.Now(), used: time.Now()}
		}
		s.begin(session{name: "ann"})
		if len(s.open) != mostSessions {
			t.Errorf("%d sessions are there", len(s.open))
		}
	})
}

func TestAnAttemptEndsByItself(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		a := attempts{open: make(map[string]attempt)}
		id, _ := a.begin("")
		late, _ := a.begin("")
		time.Sleep(attemptTime - time.Second) //nolint:forbidigo // the clock is the bubble's
		if _, there := a.take(id); !there {
			t.Error("an attempt ended too early")
		}
		time.Sleep(time.Second) //nolint:forbidigo // the clock is the bubble's
		if _, there := a.take(late); there {
			t.Error("an attempt of ten minutes ago can be finished")
		}
	})
}
