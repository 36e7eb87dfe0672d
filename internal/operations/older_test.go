package operations_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/postbag/postbag/internal/boxtest"
	"github.com/postbag/postbag/internal/operations"
	"github.com/postbag/postbag/store"
)

// Such a relay delivers what topics, headers and exceptions refuse.
func TestALiveRelayThatDoesNotKnowAFilterIsNamed(t *testing.T) {
	t.Parallel()
	s, m := alone(t)
	beats(t, m, "new", store.Condition{Ref: boxtest.Outbox, State: "closed", Pauses: true})
	beats(t, m, "old", store.Condition{Ref: boxtest.Outbox, State: "closed"})
	beats(t, m, "mute")
	want := []string{"mute", "old"}
	types := store.Filter{Types: []string{"a"}}
	for _, f := range []store.Filter{
		{Where: store.Where{Topics: []string{"t"}}},
		{Where: store.Where{Headers: []string{"h"}}},
		{Types: []string{"a"}, Where: store.Where{Except: []store.Match{{Types: []string{"b"}}}}},
	} {
		notes, err := s.FilterNotes(t.Context(), boxtest.Outbox, f)
		slices.Sort(notes)
		if err != nil || len(notes) != len(want) || !strings.HasPrefix(notes[0], "relay mute is of an older version") || !strings.HasPrefix(notes[1], "relay old is") {
			t.Errorf("of the filter %s the notes are %q, %v", f.String(), notes, err)
		}
		if notes, err := s.FilterNotes(t.Context(), store.Ref{Box: "outbox", Subscription: "other"}, f); err != nil || len(notes) > 0 {
			t.Errorf("of a subscription that they do not work the notes are %q, %v", notes, err)
		}
		if err := s.SetFilter(t.Context(), audit(), boxtest.Outbox, f); err != nil {
			t.Fatal(err)
		}
		v := statusNow(t, s)
		names := v.Boxes[0].Subscriptions[0].Older
		slices.Sort(names)
		if !slices.Equal(names, want) {
			t.Errorf("with the filter %s the status names %q", f.String(), names)
		}
		if !slices.ContainsFunc(v.Troubles(), func(line string) bool {
			return strings.Contains(line, "outbox/default: relay old is of an older version")
		}) {
			t.Errorf("the troubles are %q", v.Troubles())
		}
	}
	if notes, err := s.FilterNotes(t.Context(), boxtest.Outbox, types); err != nil || len(notes) > 0 {
		t.Errorf("of types alone the notes are %q, %v", notes, err)
	}
	if err := s.SetFilter(t.Context(), audit(), boxtest.Outbox, types); err != nil {
		t.Fatal(err)
	}
	if names := statusNow(t, s).Boxes[0].Subscriptions[0].Older; len(names) > 0 {
		t.Errorf("with a filter of types the status names %q", names)
	}
}

// statusNow is the status of the box.
func statusNow(t *testing.T, s operations.Store) *operations.Status {
	t.Helper()
	o, err := s.Look(t.Context(), boxtest.Outbox.Box)
	if err != nil {
		t.Fatal(err)
	}
	return operations.StatusOf(&o, nil)
}
