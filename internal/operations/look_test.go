package operations_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/postbag/postbag"
	"github.com/postbag/postbag/internal/boxtest"
	"github.com/postbag/postbag/internal/operations"
	"github.com/postbag/postbag/store"
	"github.com/postbag/postbag/store/memstore"
)

func TestMessagesAreShownPageByPage(t *testing.T) {
	t.Parallel()
	s, _ := withDead(t, 1200)
	q := store.Query{Ref: boxtest.Outbox, State: store.StateDead, Oldest: true}
	var pages []int
	see := func(items []store.Item) error {
		pages = append(pages, len(items))
		return nil
	}
	all, err := s.Each(t.Context(), q, 0, see)
	if err != nil || all.Shown != 1200 || all.Next != "" || len(pages) < 3 {
		t.Errorf("all of 1200: %+v in pages of %v: %v", all, pages, err)
	}
	some, err := s.Each(t.Context(), q, 700, see)
	if err != nil || some.Shown != 700 || some.Next == "" {
		t.Errorf("700 of 1200: %+v, %v", some, err)
	}
	q.Cursor = some.Next
	if rest, err := s.Each(t.Context(), q, 700, see); err != nil || rest.Shown != 500 || rest.Next != "" {
		t.Errorf("the rest of 1200: %+v, %v", rest, err)
	}
	no := errors.New("no more paper")
	if l, err := s.Each(t.Context(), q, 0, func([]store.Item) error { return no }); !errors.Is(err, no) || l.Shown != 0 {
		t.Errorf("after a page that could not be shown: %+v, %v", l, err)
	}
	if _, err := s.Each(t.Context(), q, -1, see); !errors.Is(err, operations.ErrInvalid) {
		t.Errorf("less than none: %v", err)
	}
}

func TestAMessageIsFoundAsASubscriptionHasIt(t *testing.T) {
	t.Parallel()
	s, _ := withDead(t, 1)
	items, _, err := s.List(t.Context(), store.Query{Ref: boxtest.Outbox})
	if err != nil || len(items) != 1 {
		t.Fatalf("the box shows %d messages: %v", len(items), err)
	}
	for _, r := range []store.Ref{boxtest.Outbox, {Box: "outbox"}} {
		if found, err := s.Find(t.Context(), r, items[0].ID); err != nil || len(found) != 1 || found[0].State != store.StateDead {
			t.Errorf("%s has %+v: %v", r, found, err)
		}
	}
	if _, err := s.Find(t.Context(), store.Ref{Box: "outbox", Subscription: "other"}, items[0].ID); !errors.Is(err, operations.ErrNotFound) {
		t.Errorf("another subscription: %v", err)
	}
	if _, err := s.Find(t.Context(), boxtest.Outbox, postbag.NewID()); !errors.Is(err, operations.ErrNotFound) || !strings.HasSuffix(err.Error(), "had passed it") {
		t.Errorf("a message that is not there: %v", err)
	}
}

// A box that nobody reads shows no message, and it is said why.
func TestABoxThatNobodyReadsSaysSo(t *testing.T) {
	t.Parallel()
	m := memstore.New(memstore.Options{})
	if err := m.CreateBox(t.Context(), "orders"); err != nil {
		t.Fatal(err)
	}
	s, err := operations.Of(m)
	if err != nil {
		t.Fatal(err)
	}
	if text, err := s.Unread(t.Context(), "orders"); err != nil || text != "" {
		t.Errorf("an empty box: %q, %v", text, err)
	}
	msgs := boxtest.Messages(1, "")
	if err := m.InTx(t.Context(), func(ctx context.Context, tx *memstore.Tx) error { return m.Append(ctx, tx, "orders", msgs) }); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Find(t.Context(), store.Ref{Box: "orders"}, postbag.NewID()); !errors.Is(err, operations.ErrNotFound) || !strings.HasSuffix(err.Error(), "; box orders holds 1 message and has no subscription yet, which the first relay declares") {
		t.Errorf("a box that nobody reads: %v", err)
	}
	if _, err := s.Unread(t.Context(), "elsewhere"); !errors.Is(err, operations.ErrNotFound) {
		t.Errorf("a box that is not there: %v", err)
	}
}

// Nothing is not everything, and ids are all that is chosen beside them.
func TestAChoiceThatSaysNothingOrTooMuchIsRefused(t *testing.T) {
	t.Parallel()
	s, _ := withDead(t, 3)
	id := []postbag.ID{postbag.NewID()}
	for what, c := range map[string]operations.Choice{
		"nothing":             {Kind: store.Discard},
		"a state and no word": {Kind: store.Discard, Query: store.Query{State: store.StateHeld}},
	} {
		c.Ref = boxtest.Outbox
		if _, err := s.Preview(t.Context(), c); !errors.Is(err, operations.ErrNoChoice) || !errors.Is(err, operations.ErrInvalid) {
			t.Errorf("%s: %v", what, err)
		}
	}
	for what, c := range map[string]operations.Choice{
		"ids and all":           {Kind: store.Discard, IDs: id, All: true},
		"ids and a topic":       {Kind: store.Discard, IDs: id, Query: store.Query{Topic: "orders"}},
		"ids and a state":       {Kind: store.Discard, IDs: id, Query: store.Query{State: store.StateDead}},
		"a retry of pending":    {Kind: store.Retry, All: true, Query: store.Query{State: store.StatePending}},
		"a retry of delivered":  {Kind: store.Retry, All: true, Query: store.Query{State: store.StateDelivered}},
		"a discard of no state": {Kind: store.Discard, All: true, Query: store.Query{State: "none"}},
	} {
		c.Ref = boxtest.Outbox
		if _, err := s.Preview(t.Context(), c); !errors.Is(err, operations.ErrInvalid) || errors.Is(err, operations.ErrNoChoice) {
			t.Errorf("%s: %v", what, err)
		}
	}
	p, err := s.Preview(t.Context(), operations.Choice{Ref: boxtest.Outbox, Kind: store.Retry, All: true})
	if err != nil || p.Size() != 3 || p.Query.State != store.StateDead {
		t.Errorf("all are those that are dead: %+v, %v", p, err)
	}
}
