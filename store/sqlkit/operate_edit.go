package sqlkit

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/postbag/postbag"
	"github.com/postbag/postbag/store"
	"github.com/postbag/postbag/store/storekit"
)

// edit carries out an operator's change of a box, under the lock with which
// subscriptions are declared and rows are deleted. fn may run several times.
func (s *Base) edit(ctx context.Context, a store.Audit, doing, box string, fn func(*Tx) error) error {
	doing += " of box " + box
	if err := storekit.CheckAudit(a); err != nil {
		return s.dialect.Translate(doing, err)
	}
	return s.hooks.Write(ctx, doing, func(t *Tx) error {
		found, err := t.Row(SQLHasBox+t.Lock, []any{box}, new(int))
		if err != nil {
			return err
		}
		if !found {
			return store.ErrNoBox
		}
		return fn(t)
	})
}

// audit writes to the audit log what was commanded.
func (t *Tx) audit(a store.Audit, what string) error {
	if a.Filter != "" {
		what += "; selected by " + a.Filter
	}
	_, err := t.Exec(SQLAudit, t.Now, a.Who, a.Why, what)
	return err
}

// distinct returns each id once, in order.
func distinct(ids []postbag.ID) []postbag.ID {
	sorted := slices.SortedFunc(slices.Values(ids), func(a, b postbag.ID) int { return slices.Compare(a[:], b[:]) })
	return slices.Compact(sorted)
}

// messageNames returns names of messages as text, the first of them.
func messageNames(names []string) string {
	text := strings.Join(names[:min(len(names), namedMost)], " ")
	if more := len(names) - namedMost; more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return text
}

// Scheduled changes scheduled messages; see [store.Editor].
func (s *Base) Scheduled(ctx context.Context, a store.Audit, box string, kind store.CommandKind, ids []postbag.ID) (int, error) {
	name, err := storekit.CommandName(kind)
	if err != nil {
		return 0, s.dialect.Translate("change scheduled messages", err)
	}
	changed := 0
	err = s.edit(ctx, a, name+" scheduled messages", box, func(t *Tx) error {
		changed = 0
		var names []string
		for _, id := range distinct(ids) {
			rows, err := t.reschedule(box, kind, id)
			if err != nil {
				return err
			}
			if len(rows) == 0 {
				continue
			}
			changed += len(rows)
			names = append(names, fmt.Sprintf("%s (%s)", id, rows[0].topic))
		}
		if changed == 0 {
			return nil
		}
		t.Moved = true // so that the box's maintainer looks
		return t.audit(a, fmt.Sprintf("%s %s scheduled %s", name, box, messageNames(names)))
	})
	if err != nil {
		return 0, err
	}
	s.hooks.Wake(box)
	return changed, nil
}

// reschedule has a scheduled message be due now, or removes it, and returns its rows as they were. There may be none.
func (t *Tx) reschedule(box string, kind store.CommandKind, id postbag.ID) ([]listRow, error) {
	rows, err := wholeScheduled(t, sqlScheduledID, box, id[:])
	if err != nil || len(rows) == 0 {
		return nil, err
	}
	order := Order{Text: sqlScheduledNow, Args: []any{t.Now, box, id[:], t.Now}}
	if kind == store.Discard {
		order = Order{Text: sqlScheduledDrop, Args: []any{box, id[:]}}
	}
	n, err := t.Exec(order.Text, order.Args...)
	if err == nil && n == 0 && kind == store.Discard { // it was promoted since it was read, and will be sent
		return nil, nil
	}
	return rows, err
}

// Erase overwrites messages with nothing; see [store.Editor]. It first searches the log
// for them, because there is no index of ids.
func (s *Base) Erase(ctx context.Context, a store.Audit, box string, ids []postbag.ID) (store.Erased, error) {
	var out store.Erased
	doing := "erase messages of box " + box
	if err := storekit.CheckAudit(a); err != nil {
		return out, s.dialect.Translate(doing, err)
	}
	ids = distinct(ids)
	seqs, err := s.placesOf(ctx, box, ids)
	if err != nil {
		return out, s.dialect.Translate(doing, err)
	}
	err = s.edit(ctx, a, "erase messages", box, func(t *Tx) error {
		out = store.Erased{}
		var names []string
		for _, id := range ids {
			name, err := t.erase(box, id, seqs[id], &out)
			if err != nil {
				return err
			}
			if name != "" {
				names = append(names, name)
			}
		}
		if len(names) == 0 {
			return nil
		}
		return t.audit(a, fmt.Sprintf("erase %s %s", box, messageNames(names)))
	})
	if err != nil {
		return store.Erased{}, err
	}
	return out, nil
}

// placesOf returns the seqs of messages in the log, by id.
func (s *Base) placesOf(ctx context.Context, box string, ids []postbag.ID) (out map[postbag.ID][]int64, err error) {
	err = s.hooks.Snapshot(ctx, func(t *Tx) error {
		l, err := newLister(t, store.Query{Ref: store.Ref{Box: box}})
		if err == nil {
			out, err = l.placesOf(ctx, ids)
		}
		return err
	})
	return out, err
}

// erase overwrites one message, unless it is still to be delivered, and returns how
// the audit log calls it; empty: nothing was done.
func (t *Tx) erase(box string, id postbag.ID, seqs []int64, out *store.Erased) (string, error) {
	l, err := newLister(t, store.Query{Ref: store.Ref{Box: box}, ID: id})
	if err != nil {
		return "", err
	}
	rows, err := wholeScheduled(t, sqlScheduledID, box, id[:])
	if err != nil {
		return "", err
	}
	open := len(rows) > 0
	var found []logRow
	for _, seq := range seqs {
		row, there, err := t.place(box, seq)
		if err != nil {
			return "", err
		}
		if !there || !slices.Equal(row.id, id[:]) {
			continue
		}
		found = append(found, row)
		toDo, err := l.undelivered(&row)
		if err != nil {
			return "", err
		}
		open = open || toDo
	}
	switch {
	case open:
		out.Refused = append(out.Refused, id)
		return "", nil
	case len(found) == 0:
		return "", nil
	}
	for i := range found {
		row := &found[i]
		if err := t.Blank(t, box, row.seq, storekit.ErasedShardKey(storekit.RuleOf(row.rule), row.id, row.key, row.shardKey)); err != nil {
			return "", err
		}
	}
	out.Messages++
	return fmt.Sprintf("%s (%s)", id, found[0].topic), nil
}

// undelivered says whether a subscription has a message parked, or has not passed it.
func (l *lister) undelivered(row *logRow) (bool, error) {
	slot, _ := row.place()
	for _, sub := range l.subs {
		if !sub.Passed(row.seq, slot) {
			return true, nil
		}
		parked, err := l.t.Row(SQLIsParked+l.t.Lock, []any{sub.ID, row.seq}, new(int))
		if err != nil || parked {
			return parked, err
		}
	}
	return false, nil
}
