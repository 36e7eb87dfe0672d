package operations_test

import (
	"testing"

	"github.com/postbag/postbag/internal/operations"
	"github.com/postbag/postbag/store"
)

func TestAMessageIsDoneWhenAllSubscriptionsAreThroughWithIt(t *testing.T) {
	t.Parallel()
	item := func(name string, s store.State) operations.Message {
		return operations.Message{Subscription: name, State: s}
	}
	for _, c := range []struct {
		want  string
		items []operations.Message
	}{
		{"yes", []operations.Message{
			item("a", store.StateDelivered), item("b", store.StateFiltered), item("c", store.StateDiscarded), item("d", store.StateSuperseded),
		}},
		{"no: b pending", []operations.Message{item("a", store.StateDelivered), item("b", store.StatePending)}},
		{"no: a dead, b retrying", []operations.Message{item("a", store.StateDead), item("b", store.StateRetrying)}},
		{"no: scheduled", []operations.Message{item("", store.StateScheduled)}},
	} {
		if got := operations.DoneText(c.items); got != c.want {
			t.Errorf("it says %q, not %q", got, c.want)
		}
	}
	if !operations.MessageOf("outbox", &store.Item{State: store.StateFiltered}, false).Done {
		t.Error("a filtered message is not done in JSON")
	}
}
