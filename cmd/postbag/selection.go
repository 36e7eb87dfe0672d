package main

import (
	"context"
	"fmt"
	"slices"

	"github.com/postbag/postbag"
	"github.com/postbag/postbag/cmd/postbag/internal/console"
	"github.com/postbag/postbag/cmd/postbag/internal/exit"
	"github.com/postbag/postbag/store"
)

// selection is which messages of a subscription an order is about.
type selection struct {
	ref  store.Ref
	kind store.CommandKind
	// ids, or the query if there are none.
	ids   []postbag.ID
	query store.Query

	seqs []int64
	// later are scheduled messages, which no subscription has yet.
	later []postbag.ID
	edits bool
	// some are the first of them, for people to look at.
	some []store.Item
}

// someItems is how many messages are kept to be shown.
const someItems = 20

func (s *selection) size() int { return len(s.seqs) + len(s.later) }

// find looks the messages up. A selection that finds nothing is an error. Not every
// store takes orders for messages that are not parked.
func (s *selection) find(ctx context.Context, in store.Inspector, edits bool) error {
	if state := s.query.State; !edits && (state == store.Pending || state == store.Scheduled) {
		return exit.Usagef("--state is %s, and this kind of store takes orders for parked messages only; nothing was ordered", state)
	}
	s.edits = edits
	var err error
	if len(s.ids) > 0 {
		err = s.findIDs(ctx, in)
	} else {
		err = s.findQuery(ctx, in)
	}
	if err == nil && s.size() == 0 {
		err = exit.With(exit.NotFound, fmt.Errorf("no message of %s that takes the order matches; look with postbag messages list", s.ref))
	}
	return err
}

func (s *selection) findIDs(ctx context.Context, in store.Inspector) error {
	for _, id := range s.ids {
		items, err := in.Show(ctx, s.ref.Box, id)
		if err != nil {
			return err
		}
		at := slices.IndexFunc(items, func(i store.Item) bool {
			return i.Subscription == s.ref.Subscription || i.State == store.Scheduled
		})
		if at < 0 {
			return exit.With(exit.NotFound, fmt.Errorf("%s has no message %s; nothing was ordered", s.ref, id))
		}
		allowed, which := parkedStates(), "parked messages take it"
		if s.edits {
			allowed, which = orderable(s.kind), "messages that are not settled take it"
		}
		if !slices.Contains(allowed, items[at].State) {
			return exit.With(exit.NotFound, fmt.Errorf("message %s of %s is %s, and only %s; nothing was ordered",
				id, s.ref, items[at].State, which))
		}
		s.add(&items[at])
	}
	return nil
}

func (s *selection) findQuery(ctx context.Context, in store.Inspector) error {
	q := s.query
	q.Ref, q.Oldest, q.Limit = s.ref, true, pageSize
	for {
		items, next, err := in.List(ctx, q)
		if err != nil {
			return err
		}
		for i := range items {
			s.add(&items[i])
		}
		if next == "" {
			return nil
		}
		q.Cursor = next
	}
}

func (s *selection) add(item *store.Item) {
	if item.State == store.Scheduled {
		s.later = append(s.later, item.ID)
	} else {
		s.seqs = append(s.seqs, item.Seq)
	}
	if len(s.some) < someItems {
		s.some = append(s.some, *item)
	}
}

// show says what would be ordered.
func (s *selection) show(c *console.Console, order string) error {
	if c.JSON {
		return c.Emit(map[string]any{
			"box": s.ref.Box, "subscription": s.ref.Subscription, "order": order, "selected": s.size(), "dry_run": true,
		})
	}
	if err := showPage(c, s.ref.Box, s.some, true, false); err != nil {
		return err
	}
	if more := s.size() - len(s.some); more > 0 {
		c.Sayf("and %d more", more)
	}
	c.Sayf("%s would be ordered for %s of %s; nothing was done", order, console.Count(s.size(), "message"), s.ref)
	return nil
}
