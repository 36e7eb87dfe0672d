package operations_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/postbag/postbag/internal/boxtest"
	"github.com/postbag/postbag/internal/operations"
	"github.com/postbag/postbag/store"
)

func TestAnOperationIsForAllThatWereCounted(t *testing.T) {
	t.Parallel()
	s, m := withDead(t, 1200)
	match := operations.Match{Query: store.Query{Ref: boxtest.Outbox, State: store.StateDead, Limit: 7, Cursor: "of another look"}}
	was, err := s.CountMatched(t.Context(), match, time.Minute)
	if err != nil || was.Messages != 1200 || was.AtLeast || was.Subscription != "default" || was.State != store.StateDead || was.AsOf.IsZero() {
		t.Fatalf("it counts %+v: %v", was, err)
	}
	p, err := s.PreviewMatched(t.Context(), match, store.Retry, was)
	if err != nil || p.Size() != 1200 || p.First[0].Topic != "first" {
		t.Fatalf("it is for %d messages: %v", p.Size(), err)
	}
	id, err := s.StartOperation(t.Context(), p, audit(), 0)
	if err != nil {
		t.Fatal(err)
	}
	if at, err := s.Work(id, audit(), "a worker").Do(t.Context()); err != nil || at.Queued != 1200 || at.Changed != 0 {
		t.Errorf("in the end it says %+v: %v", at, err)
	}
	if o := is(t, s, id, store.OperationDone, 1200); o.Kind != store.OperationRetry || string(o.Chosen) != `{"filter":"--state dead"}` {
		t.Errorf("the record says %+v", o)
	}
	if lines, err := m.Audited(t.Context(), 10); err != nil || len(lines) != 2 || !strings.HasSuffix(lines[1].What, "1200 dead messages; selected by --state dead") {
		t.Errorf("the audit log says %+v: %v", lines, err)
	}
}

// What is stored behind a count is not what was counted, and more than that is not either.
func TestAnOperationIsForNoMoreThanWereCounted(t *testing.T) {
	t.Parallel()
	s, _ := withDead(t, 3)
	match := operations.Match{Query: store.Query{Ref: boxtest.Outbox, State: store.StateDead}}
	was, err := s.CountMatched(t.Context(), match, time.Minute)
	if err != nil {
		t.Fatal(err)
	}
	for name, change := range map[string]func(*operations.Match, *operations.Matched){
		"of fewer than match":       func(_ *operations.Match, v *operations.Matched) { v.Messages = 2 },
		"of none":                   func(_ *operations.Match, v *operations.Matched) { v.Messages = 0 },
		"of very many":              func(_ *operations.Match, v *operations.Matched) { v.Messages = operations.MostMatched + 1 },
		"counted in the future":     func(_ *operations.Match, v *operations.Matched) { v.AsOf = v.AsOf.Add(time.Hour) },
		"counted at no time":        func(_ *operations.Match, v *operations.Matched) { v.AsOf = time.Time{} },
		"without a state":           func(m *operations.Match, _ *operations.Matched) { m.Query.State = "" },
		"of a state that is an end": func(m *operations.Match, _ *operations.Matched) { m.Query.State = store.StateDelivered },
		"to retry what is pending":  func(m *operations.Match, _ *operations.Matched) { m.Query.State = store.StatePending },
	} {
		asked, counted := match, was
		change(&asked, &counted)
		if p, err := s.PreviewMatched(t.Context(), asked, store.Retry, counted); !errors.Is(err, operations.ErrInvalid) {
			t.Errorf("a command %s is for %+v: %v", name, p, err)
		}
	}
	early := was
	early.AsOf = early.AsOf.Add(-time.Hour)
	if _, err := s.PreviewMatched(t.Context(), match, store.Retry, early); !errors.Is(err, operations.ErrNotFound) {
		t.Errorf("of messages that were stored behind the count: %v", err)
	}
	s.Bookkeeper = nil
	if _, err := s.CountMatched(t.Context(), match, time.Minute); !errors.Is(err, operations.ErrUnsupported) {
		t.Errorf("a store that keeps no operations counts for one: %v", err)
	}
}

func TestAnOperationIsForOneKindOfError(t *testing.T) {
	t.Parallel()
	s := withParked(t, parked{"a", "order 1 is unknown", store.ParkDead}, parked{"a", "refused", store.ParkDead}, parked{"a", "order 2 is unknown", store.ParkDead}, parked{"b", "order 3 is unknown", store.ParkDead})
	match := operations.Match{Query: store.Query{Ref: boxtest.Outbox, State: store.StateDead, Key: "a"}, Kind: "order N is unknown"}
	was, err := s.CountMatched(t.Context(), match, time.Minute)
	if err != nil || was.Messages != 2 {
		t.Fatalf("it counts %+v: %v", was, err)
	}
	p, err := s.PreviewMatched(t.Context(), match, store.Discard, was)
	if err != nil || p.Size() != 2 || p.First[0].Reason != "order 1 is unknown" || p.First[1].Reason != "order 2 is unknown" {
		t.Fatalf("it is for %+v: %v", p, err)
	}
	id, err := s.StartOperation(t.Context(), p, audit(), 5)
	if err != nil {
		t.Fatal(err)
	}
	o := is(t, s, id, store.OperationRunning, 0)
	if text := string(o.Chosen); !strings.Contains(text, `--key, with an error such as \"order N is unknown\"`) || !strings.Contains(text, store.KeySum("a")) || o.Rate != 5 {
		t.Errorf("the record says %+v, chosen by %s", o, text)
	}
}

func TestACountThatTakesTooLongSaysThatThereAreMore(t *testing.T) {
	t.Parallel()
	s, _ := withDead(t, 1200)
	was, err := s.CountMatched(t.Context(), operations.Match{Query: store.Query{Ref: boxtest.Outbox, State: store.StateDead}}, 0)
	if err != nil || was.Messages != 500 || !was.AtLeast {
		t.Errorf("it counts %+v: %v", was, err)
	}
}
