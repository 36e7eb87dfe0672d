package sqlitestore

import (
	"database/sql"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"github.com/postbag/postbag/internal/sqlstore"
	"github.com/postbag/postbag/store"
	"github.com/postbag/postbag/store/storekit"
)

// listRow is a message as a listing walks over it: a row of the log without its
// bytes, or a scheduled one with them.
type listRow struct {
	recordRow

	due int64
}

// ordinal is where the row stands in the walk.
func (r *listRow) ordinal() int64 { return r.seq }

// chunk returns up to size more rows of the walk, from an ordinal on.
func (l *lister) chunk(from int64, size int) ([]listRow, error) {
	var rows []listRow
	var err error
	switch l.State {
	case store.Scheduled:
		return scheduledRows(l.t, l.direct(sqlScheduledUp, sqlScheduledDown), from, l.Box, size)
	case store.Retrying, store.Waits, store.Sending, store.Died:
		rows, err = l.parkedRows(from, size)
	default:
		rows, err = l.logRows(from, size)
	}
	if err != nil || len(rows) == 0 {
		return rows, err
	}
	first, last := rows[0].seq, rows[len(rows)-1].seq
	for _, sub := range l.subs {
		if err := sub.load(l.t, min(first, last), max(first, last)); err != nil {
			return nil, err
		}
	}
	return rows, nil
}

// direct chooses the statement that goes the query's way.
func (l *lister) direct(up, down string) string {
	if l.Oldest {
		return up
	}
	return down
}

func (l *lister) logRows(from int64, size int) ([]listRow, error) {
	start, end := min(from, l.hi), l.lo
	if l.Oldest {
		start, end = max(from, l.lo), l.hi
	}
	var out []listRow
	text := fmt.Sprintf(l.direct(sqlListUp, sqlListDown), quoted(l.Box))
	err := l.t.query(text, []any{start, end, size}, func(rows *sql.Rows) error {
		var r listRow
		err := rows.Scan(r.listDest()...)
		out = append(out, r)
		return err
	})
	return out, err
}

// listDest is where to scan a row without headers and payload.
func (r *listRow) listDest() []any {
	return r.dest()[:7]
}

// parkedRows returns the rows of parked messages of one state: the next of each
// subscription, merged.
func (l *lister) parkedRows(from int64, size int) ([]listRow, error) {
	var seqs []int64
	text := l.direct(sqlStateUp, sqlStateDown)
	for _, sub := range l.subs {
		found, err := l.t.numbers(text, []any{sub.id, int(storekit.ParkStateOf(l.State)), from, size})
		if err != nil {
			return nil, err
		}
		seqs = append(seqs, found...)
	}
	slices.Sort(seqs)
	seqs = slices.Compact(seqs)
	if !l.Oldest {
		slices.Reverse(seqs)
	}
	var out []listRow
	text = fmt.Sprintf(sqlListUp, quoted(l.Box))
	for _, seq := range seqs[:min(len(seqs), size)] {
		var r listRow
		found, err := l.t.row(text, []any{seq, seq, 1}, r.listDest()...)
		if err != nil {
			return nil, err
		}
		if found {
			out = append(out, r)
		}
	}
	return out, nil
}

func scheduledRows(t *transaction, text string, args ...any) ([]listRow, error) {
	var out []listRow
	err := t.query(text, args, func(rows *sql.Rows) error {
		var r listRow
		err := rows.Scan(append(r.dest(), &r.due)...)
		out = append(out, r)
		return err
	})
	return out, err
}

// scheduled returns a scheduled message as people see it.
func (r *listRow) scheduled(now int64) (store.Item, error) {
	record, err := r.whole()
	record.NotBefore = time.UnixMicro(r.due).UTC()
	record.Seq = 0
	return store.Item{Record: record, State: store.Scheduled, Due: time.Duration(r.due-now) * time.Microsecond}, err
}

// listed is a subscription in a listing.
type listed struct {
	*reader

	types     storekit.Types
	swept     int64
	parked    map[int64]*parkedItem
	discarded map[int64]bool
}

// parkedItem is a parked row with what listings show of it.
type parkedItem struct {
	parkedRow

	history string
	queued  store.CommandKind
}

func newListed(t *transaction, r *reader) (*listed, error) {
	swept, err := t.swept(r.Box)
	if err != nil {
		return nil, err
	}
	var text string
	if _, err := t.row(sqlstore.SQLSubscription, []any{r.Box, r.Subscription}, new(int64), &text); err != nil {
		return nil, err
	}
	var types []string
	err = json.Unmarshal([]byte(text), &types)
	return &listed{reader: r, types: storekit.TypesOf(types), swept: swept}, err
}

// load reads what the subscription knows of a range of messages.
func (l *listed) load(t *transaction, lo, hi int64) error {
	l.parked = make(map[int64]*parkedItem)
	l.discarded = make(map[int64]bool)
	err := t.query(sqlParkedRange, []any{l.id, lo, hi}, func(rows *sql.Rows) error {
		var p parkedItem
		dest := append(append([]any{&p.Seq}, p.dest()...), &p.history, &p.queued)
		err := rows.Scan(dest...)
		l.parked[p.Seq] = &p
		return err
	})
	if err != nil {
		return err
	}
	return t.query(sqlDiscardedRange, []any{l.id, lo, hi}, func(rows *sql.Rows) error {
		var seq int64
		err := rows.Scan(&seq)
		l.discarded[seq] = true
		return err
	})
}

// item returns a message as the subscription has it. One that the log has
// dropped is there only for who has it parked.
func (l *listed) item(row *listRow, now int64) (item store.Item, there bool, err error) {
	record, err := row.whole()
	item = store.Item{Record: record, Subscription: l.Subscription, State: store.Delivered}
	p := l.parked[row.seq]
	switch {
	case p != nil:
		k := p.park(now)
		item.State, item.Attempts, item.Due, item.Reason = storekit.StateOf(k.State), k.Attempts, k.Delay, k.Reason
		item.Queued = p.queued
	case row.seq > l.passedBy(record.Slot):
		item.State = store.Pending
	case !l.types.Take(record.Type):
		item.State = store.Filtered
	case l.discarded[row.seq]:
		item.State = store.Discarded
	}
	return item, p != nil || row.seq > l.swept, err
}
