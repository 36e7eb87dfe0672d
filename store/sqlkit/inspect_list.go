package sqlkit

import (
	"context"
	"math"
	"slices"

	"github.com/postbag/postbag/store"
	"github.com/postbag/postbag/store/storekit"
)

// List returns messages that match q; see [store.Inspector]. Without a State it
// returns all but scheduled messages, which have no place in the log yet.
// Without a Subscription a message comes once a subscription.
func (s *Base) List(ctx context.Context, q store.Query) ([]store.Item, string, error) {
	doing := "list messages of box " + q.Box
	from, err := storekit.ParseCursor(q.Cursor, q.Oldest)
	if err != nil {
		return nil, "", s.dialect.Translate(doing, err)
	}
	var items []store.Item
	var next string
	err = s.hooks.Snapshot(ctx, func(t *Tx) error {
		l, err := newLister(t, q)
		if err == nil && !l.nothing() {
			items, next, err = storekit.Walk(ctx, &l.Query, from, l.chunk, (*listRow).ordinal, l.items)
		}
		return err
	})
	return items, next, s.dialect.Translate(doing, err)
}

// lister answers one Query, in a transaction that reads.
type lister struct {
	store.Query

	t     *Tx
	types storekit.Types
	subs  []*listed
	// lo and hi bound the seqs that can match, by time.
	lo, hi int64
}

func newLister(t *Tx, q store.Query) (*lister, error) {
	q.Limit = storekit.ListLimit(q.Limit)
	l := &lister{Query: q, t: t, types: storekit.TypesOf(q.AllTypes()), lo: 1, hi: 1<<63 - 1}
	if found, err := t.Row(SQLHasBox, []any{q.Box}, new(int)); err != nil {
		return nil, err
	} else if !found {
		return nil, store.ErrNoBox
	}
	if err := l.choose(); err != nil {
		return nil, err
	}
	return l, l.bound()
}

// choose fills in the subscriptions that the query is about.
func (l *lister) choose() error {
	readers, err := l.t.Readers(l.t.Query, l.Box)
	if err != nil {
		return err
	}
	for i := range readers {
		if l.Subscription == "" || l.Subscription == readers[i].Subscription {
			sub, err := newListed(l.t, &readers[i])
			if err != nil {
				return err
			}
			l.subs = append(l.subs, sub)
		}
	}
	if l.Subscription != "" && len(l.subs) == 0 {
		return store.ErrNoSubscription
	}
	return nil
}

// bound narrows the walk by time: that of the query, or of an id of version 7,
// which cannot have been stored before it was drawn.
func (l *lister) bound() error {
	after := l.After
	if drawn, ok := storekit.DrawnAt(l.ID); ok && drawn.After(after) {
		after = drawn
	}
	if l.State == store.StatePending {
		l.lo = l.passed() + 1
	}
	if !after.IsZero() {
		start, err := l.t.Before(l.t.Query, l.Box, after)
		if err != nil {
			return err
		}
		l.lo = max(l.lo, start+1)
	}
	if l.Before.IsZero() {
		return nil
	}
	end, err := l.t.Before(l.t.Query, l.Box, l.Before.Add(storekit.ClockSlack))
	l.hi = end + 1
	return err
}

// passed is the last seq up to which all subscriptions of the query have passed everything.
func (l *lister) passed() int64 {
	floor := int64(math.MaxInt64 - 1)
	for _, sub := range l.subs {
		floor = min(floor, sub.LowWatermark())
	}
	return floor
}

// nothing says that no message can match: no filter refuses any, or no attempt was made yet of those that are asked for.
func (l *lister) nothing() bool {
	if l.State == store.StateFiltered {
		return !slices.ContainsFunc(l.subs, func(s *listed) bool { return s.filters })
	}
	return l.Error != "" && (l.State == store.StatePending || l.State == store.StateScheduled)
}

// items returns what of a message the query asks for: of each subscription, or
// scheduled.
func (l *lister) items(row *listRow) ([]store.Item, error) {
	if l.State == store.StateScheduled {
		item := row.scheduled(l.t.Now)
		if !l.matches(&item) {
			return nil, nil
		}
		if l.Bare {
			return []store.Item{item}, nil
		}
		whole, err := wholeScheduled(l.t, sqlScheduledN, row.seq)
		if err != nil || len(whole) == 0 {
			return nil, err
		}
		return []store.Item{whole[0].scheduled(l.t.Now)}, nil
	}
	var out []store.Item
	for _, sub := range l.subs {
		item, there := sub.item(row, l.t.Now)
		if !there || !l.matches(&item) {
			continue
		}
		if err := l.fill(&item); err != nil {
			return nil, err
		}
		out = append(out, item)
	}
	return out, nil
}

// fill reads the bytes of a message that matched, if they are asked for.
func (l *lister) fill(item *store.Item) error {
	if l.Bare {
		item.Headers = nil // a filter may have asked for them
		return nil
	}
	record, found, err := l.t.One(l.t.Query, l.Box, item.Seq)
	if found {
		item.Record = record
	}
	return err
}

// matches says whether an item is one that the query asks for.
func (l *lister) matches(item *store.Item) bool { return storekit.Matches(&l.Query, l.types, item) }
