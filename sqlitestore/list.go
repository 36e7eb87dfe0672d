package sqlitestore

import (
	"context"
	"fmt"

	"github.com/postbag/postbag/store"
	"github.com/postbag/postbag/store/storekit"
)

// What one List does at most.
const (
	listDefault = 50
	listMost    = 1000
	lookMost    = 20_000
	listChunk   = 500
)

// List returns messages that match q; see [store.Inspector]. Without a State it
// returns all but scheduled messages, which have no place in the log yet.
// Without a Subscription a message comes once a subscription.
func (s *Store) List(ctx context.Context, q store.Query) ([]store.Item, string, error) {
	doing := "list messages of box " + q.Box
	from, err := storekit.ParseCursor(q.Cursor, q.Oldest)
	if err != nil {
		return nil, "", translateError(doing, err)
	}
	var items []store.Item
	var next string
	err = s.snapshot(ctx, func(t *transaction) error {
		l, err := newLister(t, q)
		if err == nil {
			items, next, err = l.list(ctx, from)
		}
		return err
	})
	return items, next, translateError(doing, err)
}

// lister answers one Query, in a transaction that reads.
type lister struct {
	store.Query

	t     *transaction
	types storekit.Types
	subs  []*listed
	// lo and hi bound the seqs that can match, by time.
	lo, hi int64
}

func newLister(t *transaction, q store.Query) (*lister, error) {
	if q.Limit <= 0 {
		q.Limit = listDefault
	}
	q.Limit = min(q.Limit, listMost)
	l := &lister{Query: q, t: t, lo: 1, hi: 1<<63 - 1}
	if q.Type != "" {
		l.types = storekit.TypesOf([]string{q.Type})
	}
	if found, err := t.row(sqlHasBox, []any{q.Box}, new(int)); err != nil {
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
	readers, err := readersOf(l.t.query, l.Box)
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
	if !after.IsZero() {
		before, err := l.t.before(l.Box, after)
		if err != nil {
			return err
		}
		l.lo = before + 1
	}
	if l.Before.IsZero() {
		return nil
	}
	before, err := l.t.before(l.Box, l.Before.Add(storekit.ClockSlack))
	l.hi = before + 1
	return err
}

// list walks what the query can find, in its order.
func (l *lister) list(ctx context.Context, from storekit.Cursor) ([]store.Item, string, error) {
	var out []store.Item
	size := min(l.Limit+1, listChunk)
	for looked := 0; ; size = min(4*size, listChunk) {
		rows, err := l.chunk(from.Ordinal, size)
		if err != nil || len(rows) == 0 {
			return out, "", err
		}
		for i := range rows {
			row := &rows[i]
			if row.seq != from.Ordinal {
				from.Skip = 0
			}
			items, err := l.items(row)
			if err != nil {
				return nil, "", err
			}
			items = items[min(from.Skip, len(items)):]
			room := l.Limit - len(out)
			if len(items) > room {
				return append(out, items[:room]...), storekit.Cursor{Ordinal: row.seq, Skip: from.Skip + room}.String(), nil
			}
			out = append(out, items...)
			from = storekit.Cursor{Ordinal: l.next(row.seq)}
		}
		looked += len(rows)
		if ctx.Err() != nil {
			return nil, "", ctx.Err()
		}
		if looked >= lookMost || len(out) >= l.Limit {
			return out, from.String(), nil
		}
	}
}

// next returns the ordinal after n in the walk.
func (l *lister) next(n int64) int64 {
	if l.Oldest {
		return n + 1
	}
	return n - 1
}

// items returns what of a message the query asks for: of each subscription, or
// scheduled.
func (l *lister) items(row *listRow) ([]store.Item, error) {
	if l.State == store.Scheduled {
		item, err := row.scheduled(l.t.now)
		if err != nil || !l.matches(&item) {
			return nil, err
		}
		return []store.Item{item}, nil
	}
	var out []store.Item
	for _, sub := range l.subs {
		item, there, err := sub.item(row, l.t.now)
		if err != nil {
			return nil, err
		}
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

// fill reads the bytes of a message that matched.
func (l *lister) fill(item *store.Item) error {
	var row recordRow
	found, err := l.t.row(fmt.Sprintf(sqlRecord, quoted(l.Box)), []any{item.Seq}, row.dest(false)...)
	if err != nil || !found {
		return err
	}
	item.Record, err = row.whole()
	return err
}

// matches says whether an item is one that the query asks for.
func (l *lister) matches(item *store.Item) bool { return storekit.Matches(&l.Query, l.types, item) }
