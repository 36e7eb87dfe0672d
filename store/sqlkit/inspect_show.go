package sqlkit

import (
	"context"
	"database/sql"
	"math"
	"time"

	"github.com/postbag/postbag"
	"github.com/postbag/postbag/store"
	"github.com/postbag/postbag/store/storekit"
)

// Bounds of a search by id: the rows of the first statement, of the others, and of all; and where it begins: at most so long before the
// id was drawn, which is where nearly all are, in as many rows as findNear.
const (
	findFirst  = 2000
	findRows   = 100_000
	findMost   = 5_000_000
	findBefore = time.Second
	findNear   = 100_000
)

// Show returns all copies of one message that the box knows; see
// [store.Inspector]. There is no index of ids. So Show reads the log from the time when
// the id was drawn, or all of it if the id does not say when. It ends where it has found the
// message: of an id that was published again much later it shows the first ones.
func (s *Base) Show(ctx context.Context, box string, id postbag.ID) ([]store.Item, error) {
	out := []store.Item{}
	err := s.hooks.Snapshot(ctx, func(t *Tx) error {
		out = out[:0]
		l, err := newLister(t, store.Query{Ref: store.Ref{Box: box}})
		if err != nil {
			return err
		}
		l.ID = id
		rows, err := wholeScheduled(t, sqlScheduledID, box, id[:])
		for i := range rows {
			out = append(out, rows[i].scheduled(t.Now))
		}
		if err != nil || len(out) > 0 {
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
		return nil
	})
	if err != nil {
		return nil, s.dialect.Translate("show a message of box "+box, err)
	}
	return out, nil
}

// find returns the seqs of the messages with the query's id: first of those that were stored when the id was drawn, then of all since,
// and then of those before.
func (l *lister) find(ctx context.Context) ([]int64, error) {
	last, err := l.t.Last(l.t.Query, l.Box)
	if err != nil {
		return nil, err
	}
	drawn, known := storekit.DrawnAt(l.ID)
	if !known {
		return l.findIn(ctx, 0, last, findMost)
	}
	near, err := l.t.Before(l.t.Query, l.Box, drawn.Add(storekit.ClockSlack-findBefore))
	if err != nil {
		return nil, err
	}
	seqs, err := l.findIn(ctx, near, last, findNear)
	if err != nil || len(seqs) > 0 {
		return seqs, err
	}
	since, err := l.t.Before(l.t.Query, l.Box, drawn)
	if err != nil {
		return nil, err
	}
	if seqs, err = l.findIn(ctx, since, last, findMost); err == nil && len(seqs) == 0 {
		seqs, err = l.findIn(ctx, 0, since, findMost)
	}
	return seqs, err
}

// findIn looks through most rows at most, until it has found the id.
func (l *lister) findIn(ctx context.Context, after, last int64, most int) (seqs []int64, err error) {
	text := l.t.In(l.Box, sqlFindID)
	err = l.pieces(ctx, after, last, most, func(after, end int64, size int) (found bool, err error) {
		seqs, err = Numbers(l.t.Query, text, []any{after, end, size, l.ID[:]})
		return len(seqs) > 0, err
	})
	return seqs, err
}

// pieces goes through most rows of the log at most, in growing pieces, until look has found something.
func (l *lister) pieces(ctx context.Context, after, last int64, most int, look func(after, end int64, size int) (found bool, err error)) error {
	for looked, size := 0, findFirst; after < last && looked < most; looked, size = looked+size, min(4*size, findRows) {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		end, err := l.t.Nth(l.t.Query, l.Box, after, last, size)
		if err != nil {
			return err
		}
		if found, err := look(after, end, size); found || err != nil {
			return err
		}
		after = end
	}
	return nil
}

// placesOf returns the seqs of all messages with some ids, by id: of those that were stored since the first of the ids was drawn, and
// if one has none, of those before.
func (l *lister) placesOf(ctx context.Context, ids []postbag.ID) (map[postbag.ID][]int64, error) {
	out := make(map[postbag.ID][]int64)
	last, err := l.t.Last(l.t.Query, l.Box)
	if err != nil || len(ids) == 0 {
		return out, err
	}
	since := int64(0)
	if drawn, known := storekit.FirstDrawn(ids); known {
		if since, err = l.t.Before(l.t.Query, l.Box, drawn); err != nil {
			return nil, err
		}
	}
	look := func(after, end int64, size int) (bool, error) { return false, l.placesIn(after, end, size, ids, out) }
	if err = l.pieces(ctx, since, last, math.MaxInt, look); err == nil && len(out) < len(ids) {
		err = l.pieces(ctx, 0, since, findMost, look)
	}
	return out, err
}

// placesIn adds the seqs of messages with some ids in a piece of the log.
func (l *lister) placesIn(after, end int64, size int, ids []postbag.ID, out map[postbag.ID][]int64) error {
	args := []any{after, end, size}
	for i := range ids {
		args = append(args, ids[i][:])
	}
	return l.t.Query(inLists(l.t.In(l.Box, sqlFindIDs), len(ids)), args, func(rows *sql.Rows) error {
		var seq int64
		var id []byte
		if err := rows.Scan(&seq, &id); err != nil {
			return err
		}
		if len(id) == len(postbag.ID{}) {
			out[postbag.ID(id)] = append(out[postbag.ID(id)], seq)
		}
		return nil
	})
}

// show returns one message of the log as each subscription has it, with history.
func (l *lister) show(seq int64) ([]store.Item, error) {
	rows := make([]listRow, 1)
	row := &rows[0]
	text := l.t.In(l.Box, SQLListUp)
	if _, err := l.t.Row(text, []any{seq, seq, 1}, row.listDest()...); err != nil {
		return nil, err
	}
	of := reach{lo: seq, hi: seq}
	if err := l.withHeaders(rows, &of); err != nil {
		return nil, err
	}
	for _, sub := range l.subs {
		if err := sub.load(l.t, &of); err != nil {
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
