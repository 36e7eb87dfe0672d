package pgstore_test

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/postbag/postbag/internal/testserver/servertest"
)

// A relay that asks which running transactions have not written to the box takes the last seq given out for a bound of theirs, and
// any reader of the process may use it. So the answer must be right for every one of them, also while they are being prepared.
func TestATransactionThatHasWrittenIsNeverTakenForIdle(t *testing.T) {
	t.Parallel()
	s := newTestBox(t)
	statement := s.Statement("writers", "outbox")
	ctx, cancel := context.WithTimeout(t.Context(), lookingTime())
	defer cancel()
	var busy sync.WaitGroup
	for i := range 6 {
		busy.Go(func() { s.prepareAndCommit(ctx, i) })
	}
	// What was said to be quiet, and the last seq that had been given out before.
	quiet := map[int64]int64{}
	looks := 0
	for ctx.Err() == nil {
		s.ask(statement, quiet)
		looks++
	}
	busy.Wait()
	rows, err := s.plain.Query(t.Context(), "SELECT xid::text::bigint, min(seq) FROM postbag.outbox GROUP BY 1")
	s.Must(err)
	defer rows.Close()
	written, wrong := 0, 0
	for rows.Next() {
		var xid, first int64
		s.Must(rows.Scan(&xid, &first))
		written++
		if last, said := quiet[xid]; said && first <= last {
			wrong++
		}
	}
	s.Must(rows.Err())
	t.Logf("%d looks, %d transactions, %d wrong answers", looks, written, wrong)
	if wrong > 0 {
		t.Errorf("%d of %d transactions were taken for quiet when they had written", wrong, written)
	}
	if looks < 10 || written < 10 {
		t.Errorf("%d looks at %d transactions show nothing", looks, written)
	}
}

// lookingTime is how long the locks are looked at.
func lookingTime() time.Duration {
	if servertest.Full() {
		return time.Minute
	}
	return 5 * time.Second
}

// prepareAndCommit writes, in two phases, until ctx ends.
func (s *testBox) prepareAndCommit(ctx context.Context, writer int) {
	conn, err := s.plain.Acquire(s.Context())
	if err != nil {
		s.Error(err)
		return
	}
	defer conn.Release()
	for n := 0; ctx.Err() == nil; n++ {
		name := fmt.Sprintf("'%s-%d-%d'", s.name, writer, n)
		for _, sql := range []string{"BEGIN", "INSERT INTO postbag.outbox (topic) VALUES ('t')", "PREPARE TRANSACTION " + name, "COMMIT PREPARED " + name} {
			if _, err := conn.Exec(s.Context(), sql); err != nil {
				s.Error(err)
				return
			}
		}
	}
}

// ask reads the last seq and then who has written, and notes who has not.
func (s *testBox) ask(statement string, quiet map[int64]int64) {
	last := s.number("SELECT coalesce(pg_sequence_last_value('postbag.outbox__seq'), 0)")
	rows, err := s.plain.Query(s.Context(), statement)
	s.Must(err)
	defer rows.Close()
	for rows.Next() {
		var xid int64
		var wrote bool
		s.Must(rows.Scan(&xid, &wrote))
		if !wrote {
			quiet[xid] = max(quiet[xid], last)
		}
	}
	s.Must(rows.Err())
}
