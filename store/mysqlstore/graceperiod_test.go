package mysqlstore_test

import (
	"testing"
	"time"

	"github.com/postbag/postbag/internal/boxtest"
)

// holes publishes n messages with a hole before each, as n roll-backs leave them, and
// reads them.
func (s *testBox) holes(n int) {
	s.Helper()
	tx, err := s.plain.BeginTx(s.Context(), nil)
	s.Must(err)
	s.Must(s.Append(s.Context(), tx, "outbox", boxtest.Messages(2*n, "a")))
	_, err = tx.ExecContext(s.Context(), "DELETE FROM postbag_outbox WHERE seq > (SELECT m FROM (SELECT MAX(seq) - ? AS m FROM postbag_outbox) x) AND seq % 2 = 1", 2*n)
	s.Must(err)
	s.Must(tx.Commit())
	if got := len(s.Deliver()); got != n {
		s.Fatalf("%d messages came, and not %d", got, n)
	}
}

func TestTheGracePeriodIsShortIfThePositionIsNearlyFull(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t *testing.T, k *kind) {
		t.Helper()
		s := newTestBox(t, k, grace(time.Hour))
		s.holes(900)
		began := time.Now()
		s.Eventually("four rounds of tombstones pass", func() bool { return time.Since(began) > 2*time.Second })
		if n := s.tombstones(); n > 0 {
			t.Fatalf("%d tombstones were written an hour too early", n)
		}
		s.holes(1200)
		s.Eventually("with many holes they are not waited for that long", func() bool { s.want(s.Read()); return s.tombstones() > 0 })
		s.want(s.Deliver())
		last := s.publish(boxtest.Messages(10, "b")...)
		s.want(s.Deliver(), last...)
	})
}

func TestTheGracePeriodFallsFromTheOptionToTwoSeconds(t *testing.T) {
	t.Parallel()
	s := newTestBox(t, mariadb, grace(time.Minute))
	for spans, want := range map[int]time.Duration{0: time.Minute, 1024: time.Minute, 1536: 31 * time.Second, 2048: 2 * time.Second, 9999: 2 * time.Second} {
		if got := s.Grace(spans); got.Round(time.Millisecond) != want {
			t.Errorf("with %d spans it is %s, not %s", spans, got, want)
		}
	}
	if got := newTestBox(t, mariadb, grace(time.Second)).Grace(9999); got != time.Second {
		t.Errorf("a grace of a second becomes %s", got)
	}
}
