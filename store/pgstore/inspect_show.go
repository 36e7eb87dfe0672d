package pgstore

import (
	"context"
	"errors"
	"math"
	"slices"
	"time"

	"github.com/postbag/postbag"
	"github.com/postbag/postbag/store"
	"github.com/postbag/postbag/store/storekit"
)

// Bounds of a search by id: the rows of the first statement, of the others, and of all; and where it begins: at most so long before the
// id was drawn, which is where nearly all are, in as many rows as findNear.
const (
	findFirst  = 2000
	findRows   = 50_000
	findMost   = 5_000_000
	findBefore = time.Second
	findNear   = 100_000
)

// Show implements store.Inspector. There is no index of ids: what is looked
// through is the log since the id was drawn, and, since clocks may differ or an id
// not say when, the rest of it. The search ends where the message is found: of an id that was
// published again much later it shows the first ones.
func (s *Store) Show(ctx context.Context, box string, id postbag.ID) ([]store.Item, error) {
	out := []store.Item{}
	err := s.guarded(ctx, func(*server) error {
		out = out[:0]
		q := store.Query{Ref: store.Ref{Box: box}, Oldest: true}
		l, err := s.lister(ctx, q)
		if err != nil {
			return err
		}
		l.ID = id
		seqs, later, err := l.apart(ctx)
		if err != nil {
			return err
		}
		if out, err = l.showLater(ctx, out, later); err != nil || len(out) > 0 && len(seqs) == 0 {
			return err
		}
		if len(out) == 0 { // it may have gone from there into the log since the end of that was read
			if l, err = s.lister(ctx, q); err != nil {
				return err
			}
			l.ID = id
		}
		inLog, err := l.find(ctx)
		if err != nil {
			return err
		}
		for _, seq := range slices.Compact(slices.Sorted(slices.Values(append(seqs, inLog...)))) {
			items, err := l.show(ctx, seq)
			if err != nil {
				return err
			}
			out = append(out, items...)
		}
		return nil
	})
	if err != nil {
		return nil, translateError("show a message of box "+box, err)
	}
	return out, nil
}

// showLater adds scheduled messages, by their numbers. One that has become due meanwhile is in the log.
func (l *lister) showLater(ctx context.Context, out []store.Item, numbers []int64) ([]store.Item, error) {
	later := *l
	later.State = store.StateScheduled
	for _, n := range numbers {
		items, err := later.show(ctx, n)
		if err != nil {
			return out, err
		}
		out = append(out, items...)
	}
	return out, nil
}

// apart returns the seqs of the message's copies, and its numbers in the schedule.
func (l *lister) apart(ctx context.Context) (seqs, later []int64, err error) {
	err = l.s.run(ctx, call{
		st: l.s.statements.get("find_apart", l.Box), args: new(parameters).int4(l.box.id).bytes(l.ID[:]),
		each: func(r row) error {
			c := columns{rest: r}
			seqs, later = c.int8s(), c.int8s()
			return c.err
		},
	})
	return seqs, later, err
}

// find returns the seqs of the message in the log: first of those that were stored when its id was drawn, then of all since, and then of
// those before.
func (l *lister) find(ctx context.Context) ([]int64, error) {
	drawn, known := storekit.DrawnAt(l.ID)
	if !known {
		return l.findIn(ctx, l.dropped, l.hi, findMost)
	}
	near, err := l.s.search(ctx, l.Box, drawn.Add(storekit.ClockSlack-findBefore))
	if err != nil {
		return nil, err
	}
	near = max(near, l.dropped)
	seqs, err := l.findIn(ctx, near, l.hi, findNear)
	if err != nil || len(seqs) > 0 {
		return seqs, err
	}
	since, err := l.s.search(ctx, l.Box, drawn)
	if err != nil {
		return nil, err
	}
	since = max(since, l.dropped)
	if seqs, err = l.findIn(ctx, since, l.hi, findMost); err == nil && len(seqs) == 0 && since > l.dropped {
		seqs, err = l.findIn(ctx, l.dropped, since, findMost)
	}
	return seqs, err
}

// findIn looks through most rows at most, until it has found the id.
func (l *lister) findIn(ctx context.Context, after, to, most int64) (seqs []int64, err error) {
	id := func(a *parameters) { a.bytes(l.ID[:]) }
	err = l.pieces(ctx, "find", id, after, to, most, func(c *columns) bool {
		seqs = c.int8s()
		return len(seqs) > 0
	})
	return seqs, err
}

// pieces goes through most rows of the log at most, in growing pieces, by a statement that counts them. It ends where look has found
// something in the rest of its answer.
func (l *lister) pieces(ctx context.Context, name string, rest func(*parameters), after, to, most int64, look func(*columns) (found bool)) error {
	for looked, size := int64(0), int64(findFirst); after < to && looked < most; size = min(4*size, findRows) {
		end := min(to, after+8*size)
		count, last, found := int64(0), int64(0), false
		a := new(parameters).int8(after).int8(end).int4(int32(size))
		rest(a)
		err := l.s.run(ctx, call{st: l.s.statements.get(name, l.Box), args: a, each: func(r row) error {
			c := columns{rest: r}
			count, last = c.int8(), c.int8()
			found = look(&c)
			return c.err
		}})
		switch {
		case err != nil || found:
			return err
		case count == size:
			after = last
		case count > 0:
			after = end
		default:
			if after, err = l.s.skip(ctx, l.Box, end, to); err != nil {
				return err
			}
		}
		looked += count
	}
	return nil
}

// placesOf returns the seqs of all messages in the log with some ids, by id: of those that were stored since the first of the ids was
// drawn, and if one has none, of those before.
func (l *lister) placesOf(ctx context.Context, ids []postbag.ID) (map[string][]int64, error) {
	out := make(map[string][]int64)
	since := l.dropped
	if drawn, known := storekit.FirstDrawn(ids); known {
		first, err := l.s.search(ctx, l.Box, drawn)
		if err != nil {
			return nil, err
		}
		since = max(since, first)
	}
	these := func(a *parameters) { a.texts(len(ids), func(i int) string { return ids[i].String() }) }
	look := func(c *columns) bool {
		seqs, of := c.int8s(), c.texts()
		for i := range min(len(seqs), len(of)) {
			out[of[i]] = append(out[of[i]], seqs[i])
		}
		return false
	}
	err := l.pieces(ctx, "find_all", these, since, l.hi, math.MaxInt64, look)
	if err == nil && len(out) < len(ids) {
		err = l.pieces(ctx, "find_all", these, l.dropped, since, findMost, look)
	}
	return out, err
}

// show returns one message as each subscription has it, with its history.
func (l *lister) show(ctx context.Context, at int64) ([]store.Item, error) {
	var rows []listRow
	for _, name := range l.tables(at) {
		p, err := l.ask(ctx, name, at-1, at, 1, func(a *parameters) {
			if name == "list_copies" {
				a.int4(l.box.id)
			}
		})
		if err != nil {
			return nil, err
		}
		rows = append(rows, p.rows...)
	}
	items, err := l.items(ctx, rows)
	if err != nil {
		return nil, err
	}
	if _, err := l.fill(ctx, items); err != nil {
		return nil, err
	}
	out := make([]store.Item, 0, len(items))
	for i := range items {
		out = append(out, items[i].Item)
	}
	return out, nil
}

// tables returns the statements that find a message: the log is over where it was
// dropped.
func (l *lister) tables(at int64) []string {
	switch {
	case l.State == store.StateScheduled:
		return []string{"list_scheduled"}
	case at <= l.dropped:
		return []string{"list_copies"}
	default:
		return []string{"list_log"}
	}
}

// int8s reads an array of numbers without nulls.
func (c *columns) int8s() []int64 {
	v, ok := c.next(-1)
	if !ok || len(v) < 20 {
		return nil
	}
	n := len(v[20:]) / 12
	out := make([]int64, 0, n)
	for rest := v[20:]; len(rest) >= 12; rest = rest[12:] {
		e := columns{rest: row{rest[4:12]}}
		out = append(out, e.int8())
		c.err = errors.Join(c.err, e.err)
	}
	return out
}
