package sqlitestore_test

import (
	"context"
	"testing"

	"github.com/postbag/postbag"
	"github.com/postbag/postbag/store"
)

// busyTurn settles up to from and reads from there on.
func (f *fixture) busyTurn(l *store.Lease, from store.Position, limit int) store.Batch {
	f.Helper()
	result := f.turn(store.Turn{
		Settle: []store.Settlement{{Lease: *l, To: from}},
		Read:   []store.Request{request(from, limit)},
	})
	if !result.Verdicts[0].Applied {
		f.Fatal("a settlement is lost")
	}
	l.Version++
	f.check(result.Batches[0].Err)
	return result.Batches[0]
}

func TestTurnsThatReadConcurrentlyWithSettlingReturnEachMessageOnce(t *testing.T) {
	t.Parallel()
	f := open(t)
	lease := f.lease(outbox)
	sent := messages(500, "a", "b", "")
	f.publish(sent...)
	var got []store.Record
	for from, more := f.read("", 0).Next, true; more; {
		batch := f.busyTurn(&lease, from, 7)
		got, from, more = append(got, batch.Records...), batch.Next, batch.More
	}
	if len(got) != len(sent) {
		t.Fatalf("read %d messages, want %d", len(got), len(sent))
	}
	for i := range got {
		if got[i].ID != sent[i].ID {
			t.Fatalf("message %d is %s, want %s", i, got[i].ID, sent[i].ID)
		}
	}
}

func TestAReadDuringASettlementNoticesRetention(t *testing.T) {
	t.Parallel()
	f := open(t)
	lease := f.lease(outbox)
	f.publish(messages(20, "k")...)
	from := f.read("", 0).Next
	if got := f.busyTurn(&lease, from, 100).Records; len(got) != 20 {
		t.Fatalf("read %d messages, want 20", len(got))
	}
	f.check(f.InTx(t.Context(), func(ctx context.Context, tx postbag.SQLTx) error {
		_, err := tx.ExecContext(ctx, `UPDATE postbag__box SET swept = (SELECT max(seq) - 5 FROM postbag_outbox)`)
		return err
	}))
	if got := f.busyTurn(&lease, from, 100).Records; len(got) != 5 {
		t.Fatalf("read %d messages, want the 5 that retention has left", len(got))
	}
}
