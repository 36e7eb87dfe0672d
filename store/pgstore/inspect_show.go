package pgstore

import (
	"context"
	"errors"
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
// not say when, the rest of it. The search ends where the message is found.
func (s *Store) Show(ctx context.Context, box string, id postbag.ID) ([]store.Item, error) {
	out := []store.Item{}
	err := s.guarded(ctx, func(*server) error {
		out = out[:0]
		l, err := s.lister(ctx, store.Query{Ref: store.Ref{Box: box}, Oldest: true})
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

// findIn looks through most rows at most, in growing pieces.
func (l *lister) findIn(ctx context.Context, after, to, most int64) (seqs []int64, err error) {
	for looked, size := int64(0), int64(findFirst); after < to && looked < most && len(seqs) == 0; size = min(4*size, findRows) {
		end := min(to, after+8*size)
		count, last := int64(0), int64(0)
		err := l.s.run(ctx, call{
			st:   l.s.statements.get("find", l.Box),
			args: new(parameters).int8(after).int8(end).int4(int32(size)).bytes(l.ID[:]),
			each: func(r row) error {
				c := columns{rest: r}
				count, last, seqs = c.int8(), c.int8(), c.int8s()
				return c.err
			},
		})
		switch {
		case err != nil:
			return nil, err
		case count == size:
			after = last
		case count > 0:
			after = end
		default:
			if after, err = l.s.skip(ctx, l.Box, end, to); err != nil {
				return nil, err
			}
		}
		looked += count
	}
	return seqs, nil
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
