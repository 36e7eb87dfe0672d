package pgstore

import (
	"context"
	"errors"
	"slices"

	"github.com/postbag/postbag"
	"github.com/postbag/postbag/store"
)

// Bounds of a search by id: the rows of one statement, and of all.
const (
	findRows = 50_000
	findMost = 5_000_000
)

// Show implements store.Inspector. There is no index of ids: what is looked
// through is the log since the id was drawn, and, since clocks may differ or an id
// not say when, the rest of it. The search ends where the message is found.
func (s *Store) Show(ctx context.Context, box string, id postbag.ID) ([]store.Item, error) {
	out := []store.Item{}
	err := s.guarded(ctx, func(*server) error {
		out = out[:0]
		l, err := s.lister(ctx, store.Query{Ref: store.Ref{Box: box}, ID: id, Oldest: true})
		if err != nil {
			return err
		}
		seqs, later, err := l.apart(ctx)
		if err != nil {
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
		l.State = store.StateScheduled
		for _, n := range later {
			items, err := l.show(ctx, n)
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

// find returns the seqs of the message in the log: of those since its id was
// drawn, or else of those before.
func (l *lister) find(ctx context.Context) ([]int64, error) {
	seqs, err := l.findIn(ctx, l.lo, l.hi)
	if err == nil && len(seqs) == 0 && l.lo > l.dropped {
		seqs, err = l.findIn(ctx, l.dropped, l.lo)
	}
	return seqs, err
}

func (l *lister) findIn(ctx context.Context, after, to int64) (seqs []int64, err error) {
	for looked := int64(0); after < to && looked < findMost && len(seqs) == 0; {
		end := min(to, after+8*findRows)
		count, last := int64(0), int64(0)
		err := l.s.run(ctx, call{
			st:   l.s.statements.get("find", l.Box),
			args: new(parameters).int8(after).int8(end).int4(findRows).bytes(l.ID[:]),
			each: func(r row) error {
				c := columns{rest: r}
				count, last, seqs = c.int8(), c.int8(), c.int8s()
				return c.err
			},
		})
		switch {
		case err != nil:
			return nil, err
		case count == findRows:
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
