package boxtest

import (
	"context"
	"reflect"
	"testing"
	"time"

	"github.com/postbag/postbag/store"
)

// asked is what a reader of a replica and its primary both answer.
type asked interface {
	store.Inspector
	Audited(ctx context.Context, limit int) ([]store.AuditEntry, error)
	Operations(ctx context.Context, limit int) ([]store.Operation, error)
	SeqBefore(ctx context.Context, box string, at time.Time) (int64, error)
	Due(ctx context.Context, d store.Due) ([]store.Parked, error)
}

// SameAnswers asks a primary, and a replica that has all that it has, every question that people ask of box r.Box, and wants the
// same answers. The box has messages, and none of them is of the last moment.
func SameAnswers(tb testing.TB, primary asked, replica store.Reader, r store.Ref) {
	tb.Helper()
	ctx := tb.Context()
	same := func(what string, ask func(asked) (any, error)) {
		tb.Helper()
		want, err := ask(primary)
		if err != nil {
			tb.Fatalf("%s, of the primary: %v", what, err)
		}
		got, err := ask(replica)
		if err != nil {
			tb.Fatalf("%s, of the replica: %v", what, err)
		}
		if !reflect.DeepEqual(got, want) {
			tb.Errorf("%s: the replica says\n%+v\nand the primary\n%+v", what, got, want)
		}
	}
	same("overview", func(a asked) (any, error) {
		o, err := a.Overview(ctx)
		return timeless(o), err
	})
	found := 0
	for _, state := range []store.State{
		"", store.StatePending, store.StateRetrying, store.StateBlocked, store.StateInFlight, store.StateDead, store.StateHeld,
		store.StateDelivered, store.StateDiscarded, store.StateFiltered, store.StateScheduled, store.StateSuperseded,
	} {
		same("list "+string(state), func(a asked) (any, error) {
			items, next, err := a.List(ctx, store.Query{Ref: store.Ref{Box: r.Box}, State: state, Limit: 7})
			found += len(items)
			return []any{untimed(items), next}, err
		})
	}
	if found < 20 {
		tb.Fatalf("only %d messages are listed", found)
	}
	items, _, err := primary.List(ctx, store.Query{Ref: r, State: store.StateDead, Limit: 1})
	if err != nil || len(items) == 0 {
		tb.Fatalf("there is no dead message to show: %v", err)
	}
	same("show", func(a asked) (any, error) {
		copies, err := a.Show(ctx, r.Box, items[0].ID)
		return untimed(copies), err
	})
	same("audit", func(a asked) (any, error) { return a.Audited(ctx, 100) })
	same("operations", func(a asked) (any, error) { return a.Operations(ctx, 100) })
	same("a time in the log", func(a asked) (any, error) { return a.SeqBefore(ctx, r.Box, time.Now().Add(time.Hour)) })
	same("due", func(a asked) (any, error) {
		due, err := a.Due(ctx, store.Due{Ref: r, Slots: []store.Slots{store.AllSlots}, Limit: 10, Bytes: 1 << 20})
		for i := range due {
			due[i].First, due[i].Delay = 0, 0
		}
		return due, err
	})
}

// timeless leaves out what depends on when it was asked.
func timeless(o store.Overview) store.Overview {
	o.Now = time.Time{}
	for i := range o.Relays {
		o.Relays[i].Expires = 0
	}
	for i := range o.Boxes {
		for j := range o.Boxes[i].Notices {
			o.Boxes[i].Notices[j].Ago = 0
		}
		for j := range o.Boxes[i].Subscriptions {
			o.Boxes[i].Subscriptions[j].Oldest = 0
		}
	}
	return o
}

func untimed(items []store.Item) []store.Item {
	for i := range items {
		items[i].Due = 0
	}
	return items
}
