package mysqlstore_test

import (
	"slices"
	"testing"
	"time"

	"github.com/postbag/postbag/internal/boxtest"
	"github.com/postbag/postbag/store"
)

// Two lanes of a relay meet: one has read over seqs that were open then, and the other reads up to where the first stands
// when they have come. What the position says is open is read from there, once.
func TestASeqStillOpenAtUntilIsReadByLaterReadsOnly(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t *testing.T, k *kind) {
		t.Helper()
		s := newTestBox(t, k, grace(time.Minute))
		first := s.publish(boxtest.Messages(2, "a")...)
		tx, err := s.plain.BeginTx(t.Context(), nil)
		s.Must(err)
		late := boxtest.Messages(200, "late")
		s.Must(s.Append(t.Context(), tx, "outbox", late))
		others := slices.Concat(first, s.publish(boxtest.Messages(2, "b")...))
		s.want(s.Read(), others...)
		s.Must(tx.Commit())

		until := s.At
		s.want(s.chain("", until, 10), others...)
		s.want(s.chain(until, "", 10), late...)
	})
}

// chain reads from a position to another, or to the end, in pages of some rows.
func (s *testBox) chain(from, until store.Position, limit int) (out []store.Record) {
	s.Helper()
	for range 1000 {
		r := request(from, limit)
		r.Until = until
		turn, err := s.Turn(s.Context(), store.Turn{Read: []store.Request{r}})
		s.Must(err)
		b := turn.Batches[0]
		s.Must(b.Err)
		out = append(out, b.Records...)
		if from = b.Next; b.More {
			continue
		}
		if until != "" && from != until {
			s.Fatalf("the chain ends at another position than it was to")
		}
		return out
	}
	s.Fatal("the chain does not end")
	return nil
}
