package pgstore_test

import (
	"testing"

	"github.com/postbag/postbag/internal/boxtest"
	"github.com/postbag/postbag/store"
)

// A settlement that is refused takes no transaction id, so that the last seq that was read before it says nothing about those
// who have theirs.
func TestARefusedSettlementSetsNoBound(t *testing.T) {
	t.Parallel()
	s := newTestBox(t)
	s.publish(boxtest.Messages(3, "a")...)
	s.Deliver()
	tx, err := s.plain.Begin(t.Context())
	s.Must(err)
	late := boxtest.Messages(2, "late")
	s.Must(s.Append(t.Context(), tx, "outbox", late))
	s.publish(boxtest.Messages(3, "a")...)
	lost := s.Lease
	lost.Token++
	for range 3 { // whatever else gives a bound by itself
		res, err := s.Turn(t.Context(), store.Turn{Settle: []store.Settlement{{Lease: lost, To: s.At}}})
		s.Must(err)
		if res.Verdicts[0].Applied {
			t.Fatal("a settlement under another token was applied")
		}
	}
	if got := len(s.Read()); got != 3 {
		t.Errorf("while the transaction is open %d messages come, not 3", got)
	}
	s.Must(tx.Commit(t.Context()))
	got := s.Read()
	if len(got) != len(late) || got[0].ID != late[0].ID || got[1].ID != late[1].ID {
		t.Errorf("after its commit %d messages come, not the %d of the transaction", len(got), len(late))
	}
}
