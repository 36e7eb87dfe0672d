package mysqlstore_test

import (
	"context"
	"database/sql"
	"testing"
	"time"

	"github.com/postbag/postbag"
	"github.com/postbag/postbag/internal/sitetest"
)

// An INSERT ... SELECT locks in REPEATABLE READ what it reads: a statement that asked for the box's row waited for every relay that
// swept, and kept relays from sweeping until the application's transaction ended.
func TestAProducerOfScheduledMessagesAndARelayDoNotWaitForEachOther(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t *testing.T, k *kind) {
		t.Helper()
		s := newSite(t, k)
		s.publish(sitetest.Messages(3, "a")...)
		ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
		defer cancel()
		begin := func() *sql.Tx {
			tx, err := s.plain.BeginTx(ctx, &sql.TxOptions{Isolation: sql.LevelRepeatableRead})
			s.Must(err)
			t.Cleanup(func() { _ = tx.Rollback() }) // nothing of it is to stay
			return tx
		}
		lock := func(tx *sql.Tx) {
			for _, table := range []string{
				"postbag_outbox", "postbag__box", "postbag__meta", "postbag__subscription", "postbag__shard", "postbag__parked", "postbag__relay",
			} {
				if _, err := tx.ExecContext(ctx, "DELETE FROM "+table); err != nil {
					t.Fatalf("it waits for a row of %s: %v", table, err)
				}
			}
		}
		relay := begin()
		lock(relay)
		producer := begin()
		s.Must(s.Append(ctx, producer, "outbox", []postbag.Message{{
			ID: postbag.NewID(), Topic: "t", Key: "a", NotBefore: time.Now().Add(time.Hour),
		}}))
		s.Must(relay.Rollback())
		lock(begin())
	})
}
