package mysqlstore_test

import (
	"context"
	"testing"
	"time"

	"github.com/postbag/postbag/internal/boxtest"
	"github.com/postbag/postbag/store"
)

// Who changes what there is holds the one row of the database, and the settlement
// asks that row for the server's life.
func TestASettlementDoesNotWaitForOtherChanges(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t *testing.T, k *kind) {
		t.Helper()
		s := newTestBox(t, k)
		s.publish(boxtest.Messages(3, "a")...)
		result, err := s.Turn(t.Context(), store.Turn{Read: []store.Request{request("", 10)}})
		s.Must(err)
		batch := result.Batches[0]
		tx, err := s.plain.BeginTx(t.Context(), nil)
		s.Must(err)
		defer tx.Rollback() //nolint:errcheck // it only reads
		var one int
		s.Must(tx.QueryRowContext(t.Context(), "SELECT 1 FROM postbag__meta WHERE one = 1 FOR UPDATE").Scan(&one))
		ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
		defer cancel()
		sum := store.Tally{Fate: store.TallyDelivered, Count: int64(len(batch.Records))}
		settled, err := s.Turn(ctx, store.Turn{Settle: []store.Settlement{{Lease: s.Lease, To: batch.Next, Tally: []store.Tally{sum}}}})
		s.Must(err)
		if !settled.Verdicts[0].Applied {
			t.Error("the settlement is lost")
		}
	})
}
