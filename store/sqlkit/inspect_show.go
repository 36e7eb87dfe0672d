package sqlkit

import (
	"context"

	"github.com/postbag/postbag"
	"github.com/postbag/postbag/store"
	"github.com/postbag/postbag/store/storekit"
)

// Bounds of a search by id: the rows of one statement, and of all.
const (
	findRows = 100_000
	findMost = 5_000_000
)

// Show returns all copies of one message that the box knows; see
// [store.Inspector]. There is no index of ids. So Show reads the log from the time when
// the id was drawn, or all of it if the id does not say when.
func (s *Base) Show(ctx context.Context, box string, id postbag.ID) ([]store.Item, error) {
	out := []store.Item{}
	err := s.hooks.Snapshot(ctx, func(t *Tx) error {
		out = out[:0]
		l, err := newLister(t, store.Query{Ref: store.Ref{Box: box}, ID: id})
		if err != nil {
			return err
		}
		seqs, err := l.find(ctx)
		if err != nil {
			return err
		}
		for _, seq := range seqs {
			items, err := l.show(seq)
			if err != nil {
				return err
			}
			out = append(out, items...)
		}
		rows, err := wholeScheduled(t, sqlScheduledID, box, id[:])
		for i := range rows {
			if err == nil {
				out = append(out, rows[i].scheduled(t.Now))
			}
		}
		return err
	})
	if err != nil {
		return nil, s.dialect.Translate("show a message of box "+box, err)
	}
	return out, nil
}

// find returns the seqs of the messages with the query's id: of those since the
// id was drawn, or else, since clocks may differ, of those before.
func (l *lister) find(ctx context.Context) ([]int64, error) {
	last, err := l.t.Last(l.t.Query, l.Box)
	if err != nil {
		return nil, err
	}
	seqs, err := l.findIn(ctx, l.lo-1, last)
	if err == nil && len(seqs) == 0 {
		seqs, err = l.findIn(ctx, 0, l.lo-1)
	}
	return seqs, err
}

func (l *lister) findIn(ctx context.Context, after, last int64) ([]int64, error) {
	var seqs []int64
	text := l.t.In(l.Box, sqlFindID)
	for looked := 0; after < last && looked < findMost; looked += findRows {
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		end, err := l.t.Nth(l.t.Query, l.Box, after, last, findRows)
		if err != nil {
			return nil, err
		}
		found, err := Numbers(l.t.Query, text, []any{after, end, findRows, l.ID[:]})
		if err != nil {
			return nil, err
		}
		seqs, after = append(seqs, found...), end
	}
	return seqs, nil
}

// show returns one message of the log as each subscription has it, with history.
func (l *lister) show(seq int64) ([]store.Item, error) {
	rows := make([]listRow, 1)
	row := &rows[0]
	text := l.t.In(l.Box, SQLListUp)
	if _, err := l.t.Row(text, []any{seq, seq, 1}, row.listDest()...); err != nil {
		return nil, err
	}
	if err := l.withHeaders(rows); err != nil {
		return nil, err
	}
	for _, sub := range l.subs {
		if err := sub.load(l.t, &reach{lo: seq, hi: seq}); err != nil {
			return nil, err
		}
	}
	items, err := l.items(row)
	if err != nil {
		return nil, err
	}
	for i := range items {
		for _, sub := range l.subs {
			history := sub.history(seq)
			if sub.Subscription != items[i].Subscription || history == "" {
				continue
			}
			if items[i].History, err = storekit.Attempts(history); err != nil {
				return nil, err
			}
		}
	}
	return items, nil
}
