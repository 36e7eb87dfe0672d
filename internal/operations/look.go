package operations

import (
	"context"
	"fmt"
	"slices"

	"github.com/postbag/postbag"
	"github.com/postbag/postbag/store"
)

// Listing is how far a listing got.
type Listing struct {
	// Shown is how many messages were seen.
	Shown int
	// Next is the cursor to go on with. Empty: that were all.
	Next string
}

// Each shows the messages that match q, from q.Cursor on, page by page, until see fails. It ends after limit messages; zero: after
// the last.
func (s Store) Each(ctx context.Context, q store.Query, limit int, see func([]store.Item) error) (Listing, error) {
	var l Listing
	if limit < 0 {
		return l, refusef(ErrInvalid, "%d messages are asked for; choose a number, or 0 for all", limit)
	}
	for {
		q.Limit = pageSize
		if limit > 0 {
			q.Limit = min(pageSize, limit-l.Shown)
		}
		items, next, err := s.List(ctx, q)
		if err != nil {
			return l, err
		}
		if err := see(items); err != nil {
			return l, err
		}
		l.Shown += len(items)
		l.Next, q.Cursor = next, next
		if next == "" || limit > 0 && l.Shown >= limit {
			return l, nil
		}
	}
}

// Unread says why a box may have nothing to show: it has no subscription, and so its messages have no state yet. The text goes behind
// another sentence, and is empty where somebody reads the box. A box that is not there is ErrNotFound.
func (s Store) Unread(ctx context.Context, box string) (string, error) {
	o, err := s.Look(ctx, box)
	if err != nil {
		return "", err
	}
	return StatusOf(&o, nil).Unread(), nil
}

// Unread says the same of the first box that has no subscription.
func (v *Status) Unread() string {
	for i := range v.Boxes {
		if b := &v.Boxes[i]; len(b.Subscriptions) == 0 && b.LastSeq > 0 {
			plural := "s"
			if b.Messages == 1 {
				plural = ""
			}
			return fmt.Sprintf("; box %s holds %d message%s and has no subscription yet, which the first relay declares", b.Name, b.Messages, plural)
		}
	}
	return ""
}

// Find returns a message as each subscription has it, or as the one does that is named. A message that the box does not show is
// ErrNotFound.
func (s Store) Find(ctx context.Context, r store.Ref, id postbag.ID) ([]store.Item, error) {
	items, err := s.Show(ctx, r.Box, id)
	if err != nil {
		return nil, err
	}
	items = slices.DeleteFunc(items, func(i store.Item) bool {
		return r.Subscription != "" && i.Subscription != "" && i.Subscription != r.Subscription
	})
	if len(items) > 0 {
		return items, nil
	}
	unread, err := s.Unread(ctx, r.Box)
	if err != nil {
		return nil, err
	}
	return nil, NoMessage(r.Box, id, unread)
}

// NoMessage is the ErrNotFound of a message. Unread is what Unread says of the box.
func NoMessage(box string, id postbag.ID, unread string) error {
	return refusef(ErrNotFound, "box %s shows no message %s; it may have been dropped after every subscription had passed it%s", box, id, unread)
}
