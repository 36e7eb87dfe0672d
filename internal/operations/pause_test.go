package operations_test

import (
	"errors"
	"testing"

	"github.com/postbag/postbag/internal/boxtest"
	"github.com/postbag/postbag/internal/operations"
	"github.com/postbag/postbag/store"
)

func TestASubscriptionIsPausedForAReason(t *testing.T) {
	t.Parallel()
	s, _ := withDead(t, 1)
	if err := s.SetPaused(t.Context(), store.Audit{Who: "an operator"}, boxtest.Outbox, true); !errors.Is(err, operations.ErrNoReason) {
		t.Errorf("without a reason: %v", err)
	}
	if err := s.SetPaused(t.Context(), audit(), store.Ref{Box: "outbox", Subscription: "none"}, true); !errors.Is(err, store.ErrNoSubscription) {
		t.Errorf("a subscription that is not there: %v", err)
	}
	for _, paused := range []bool{true, true, false} {
		if err := s.SetPaused(t.Context(), audit(), boxtest.Outbox, paused); err != nil {
			t.Fatal(err)
		}
		o, err := s.Look(t.Context(), boxtest.Outbox.Box)
		if err != nil || operations.StatusOf(&o, nil).Boxes[0].Subscriptions[0].Paused != paused {
			t.Errorf("the state after it: %+v, %v; want paused %v", o, err, paused)
		}
	}
	lines, err := s.AuditLog(t.Context(), 10)
	if err != nil || len(lines) != 3 || lines[0].What != "resume outbox/default" || lines[1].What != "pause outbox/default" {
		t.Errorf("the audit log says %+v: %v", lines, err)
	}
}
