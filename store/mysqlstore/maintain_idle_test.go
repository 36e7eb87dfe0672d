package mysqlstore_test

import (
	"testing"
	"time"

	"github.com/postbag/postbag/internal/boxtest"
)

func TestARoundOfHousekeepingWithNothingToDoMakesFewStatements(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t *testing.T, k *kind) {
		t.Helper()
		s := newTestBox(t, k)
		s.Keep = time.Hour
		idle := func(what string, most int64) {
			t.Helper()
			for range 5 { // it may have noted something to be done
				s.Housekeep()
			}
			before := s.cut.statements.Load()
			r := s.Housekeep()
			if n := s.cut.statements.Load() - before; n == 0 || n > most || r.More || len(r.Faults) > 0 {
				t.Errorf("%s: a round with nothing to do makes %d statements, want %d at most: %+v", what, n, most, r)
			}
		}
		idle("an empty box", 14)
		s.publish(boxtest.Messages(100, "a")...)
		idle("a box that nobody has read", 14)
		s.Deliver()
		idle("a box that was delivered", 14)
	})
}
