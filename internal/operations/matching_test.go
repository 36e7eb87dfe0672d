package operations_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/postbag/postbag"
	"github.com/postbag/postbag/internal/boxtest"
	"github.com/postbag/postbag/internal/operations"
	"github.com/postbag/postbag/store"
)

func TestACommandForAllThatMatchIsForThoseThatWereCounted(t *testing.T) {
	t.Parallel()
	s := withParked(t, parked{"a", "refused", store.ParkDead}, parked{"b", "too large", store.ParkDead}, parked{"c", "refused", store.ParkRetrying}, parked{"d", "Refused", store.ParkDead})
	q := store.Query{Ref: store.Ref{Box: "outbox"}, State: store.StateDead, Error: "refused"}
	was, err := s.CountMatching(t.Context(), q)
	if err != nil || was.Messages != 2 || was.AtLeast || was.Subscription != "default" || was.Newest.IsZero() {
		t.Fatalf("it counts %+v: %v", was, err)
	}
	for name, change := range map[string]func(*store.Query, *operations.Matching){
		"of another count":      func(_ *store.Query, m *operations.Matching) { m.Messages = 3 },
		"of another newest one": func(_ *store.Query, m *operations.Matching) { m.Newest = postbag.NewID() },
		"without a state":       func(q *store.Query, _ *operations.Matching) { q.State = "" },
		"of settled messages":   func(q *store.Query, _ *operations.Matching) { q.State = store.StateDelivered },
	} {
		asked, counted := q, was
		change(&asked, &counted)
		if p, err := s.PreviewMatching(t.Context(), asked, store.Retry, counted); !errors.Is(err, operations.ErrInvalid) {
			t.Errorf("a command %s is for %v: %v", name, p, err)
		}
	}
	none := q
	none.Topic = "none"
	if _, err := s.PreviewMatching(t.Context(), none, store.Retry, operations.Matching{}); !errors.Is(err, operations.ErrNotFound) {
		t.Errorf("a command for none: %v", err)
	}
	p, err := s.PreviewMatching(t.Context(), q, store.Retry, was)
	if err != nil || p.Size() != 2 || p.First[0].Key != "a" || p.First[1].ID != was.Newest {
		t.Fatalf("it is for %+v: %v", p, err)
	}
	did, err := s.Run(p, store.Audit{Who: "ann", Why: "it works again"}).Do(t.Context())
	if err != nil || did.Queued != 2 {
		t.Fatalf("it queued %+v: %v", did, err)
	}
	if lines, err := s.AuditLog(t.Context(), 1); err != nil || !strings.Contains(lines[0].What, "the newest 2 with --state dead --error refused") {
		t.Errorf("the audit log says %+v: %v", lines, err)
	}
}

func TestACountOfWhatMatchesThatWasCutShortSaysSo(t *testing.T) {
	t.Parallel()
	s, _ := withDead(t, operations.MostMatching+1)
	was, err := s.CountMatching(t.Context(), store.Query{Ref: boxtest.Outbox, State: store.StateDead, Limit: 7, Oldest: true})
	if err != nil || was.Messages != operations.MostMatching || !was.AtLeast {
		t.Errorf("it counts %+v: %v", was, err)
	}
}
