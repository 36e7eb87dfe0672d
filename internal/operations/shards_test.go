package operations_test

import (
	"errors"
	"testing"

	"github.com/postbag/postbag/internal/boxtest"
	"github.com/postbag/postbag/internal/operations"
	"github.com/postbag/postbag/store"
)

func TestShardsAreAskedForWithAReasonAndInBounds(t *testing.T) {
	t.Parallel()
	s, _ := withDead(t, 1)
	for _, n := range []int{0, -1, store.SlotCount + 1} {
		if err := s.SetShards(t.Context(), audit(), boxtest.Outbox, n); !errors.Is(err, operations.ErrInvalid) {
			t.Errorf("%d shards: %v", n, err)
		}
	}
	if err := s.SetShards(t.Context(), store.Audit{Who: "an operator"}, boxtest.Outbox, 8); !errors.Is(err, operations.ErrNoReason) {
		t.Errorf("without a reason: %v", err)
	}
	if err := s.SetShards(t.Context(), audit(), store.Ref{Box: "outbox", Subscription: "none"}, 8); !errors.Is(err, store.ErrNoSubscription) {
		t.Errorf("a subscription that is not there: %v", err)
	}
	if err := s.SetShards(t.Context(), audit(), boxtest.Outbox, 8); err != nil {
		t.Fatal(err)
	}
	o, err := s.Look(t.Context(), boxtest.Outbox.Box)
	if err != nil || operations.StatusOf(&o, nil).Boxes[0].Subscriptions[0].Wanted != 8 {
		t.Errorf("the state after it: %+v, %v", o, err)
	}
	lines, err := s.AuditLog(t.Context(), 10)
	if err != nil || len(lines) != 1 || lines[0].What != "shards outbox/default 8" {
		t.Errorf("the audit log says %+v: %v", lines, err)
	}
}
