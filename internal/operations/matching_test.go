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
	q := operations.Match{Query: store.Query{Ref: store.Ref{Box: "outbox"}, State: store.StateDead, Error: "refused"}}
	was, err := s.CountMatching(t.Context(), q)
	if err != nil || was.Messages != 2 || was.AtLeast || was.Subscription != "default" || was.Newest.IsZero() {
		t.Fatalf("it counts %+v: %v", was, err)
	}
	for name, change := range map[string]func(*operations.Match, *operations.Matching){
		"of another count":      func(_ *operations.Match, m *operations.Matching) { m.Messages = 3 },
		"of another newest one": func(_ *operations.Match, m *operations.Matching) { m.Newest = postbag.NewID() },
		"without a state":       func(q *operations.Match, _ *operations.Matching) { q.Query.State = "" },
		"of settled messages":   func(q *operations.Match, _ *operations.Matching) { q.Query.State = store.StateDelivered },
	} {
		asked, counted := q, was
		change(&asked, &counted)
		if p, err := s.PreviewMatching(t.Context(), asked, store.Retry, counted); !errors.Is(err, operations.ErrInvalid) {
			t.Errorf("a command %s is for %v: %v", name, p, err)
		}
	}
	none := q
	none.Query.Topic = "none"
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
	was, err := s.CountMatching(t.Context(), operations.Match{Query: store.Query{Ref: boxtest.Outbox, State: store.StateDead, Limit: 7, Oldest: true}})
	if err != nil || was.Messages != operations.MostMatching || !was.AtLeast {
		t.Errorf("it counts %+v: %v", was, err)
	}
}

// A key may say who somebody is, and the audit log stays when the message is erased.
func TestACommandForAllThatMatchTellsNoKey(t *testing.T) {
	t.Parallel()
	s := withParked(t, parked{"anna@example.com", "refused", store.ParkDead}, parked{"b", "refused", store.ParkDead})
	m := operations.Match{Query: store.Query{Ref: boxtest.Outbox, State: store.StateDead, Key: "anna@example.com"}}
	p, err := s.PreviewMatching(t.Context(), m, store.Retry, operations.Matching{})
	if err != nil || p.Size() != 1 {
		t.Fatalf("it is for %+v: %v", p, err)
	}
	if _, err := s.Run(p, audit()).Do(t.Context()); err != nil {
		t.Fatal(err)
	}
	lines, err := s.AuditLog(t.Context(), 10)
	if err != nil || len(lines) != 1 || strings.Contains(lines[0].What, "anna") || !strings.HasSuffix(lines[0].What, "the newest 1 with --state dead --key") {
		t.Errorf("the audit log says %+v: %v", lines, err)
	}
}

func TestAStoreThatEditsNothingTakesNoCommandForWhatIsPending(t *testing.T) {
	t.Parallel()
	s, _ := withDead(t, 3)
	s.Editor = nil
	m := operations.Match{Query: store.Query{Ref: boxtest.Outbox, State: store.StatePending}}
	if _, err := s.PreviewMatching(t.Context(), m, store.Discard, operations.Matching{}); !errors.Is(err, operations.ErrUnsupported) {
		t.Errorf("a command: %v", err)
	}
	if _, err := s.PreviewMatched(t.Context(), m, store.Discard, operations.Matched{Messages: 1}); !errors.Is(err, operations.ErrUnsupported) {
		t.Errorf("an operation: %v", err)
	}
}

// A browser brings each line end of a hidden field back as CR and LF, and the console makes LF of that.
func TestAKindOfErrorHasOneFormOfLineEnds(t *testing.T) {
	t.Parallel()
	for _, reason := range []string{"refused\r\nby the policy", "refused\rby the policy", "refused\nby the policy"} {
		if kind := operations.ErrorKind(reason); kind != "refused\nby the policy" {
			t.Errorf("the kind of %q is %q", reason, kind)
		}
	}
}
