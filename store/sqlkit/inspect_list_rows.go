package sqlkit

import (
	"database/sql"
	"slices"
	"strings"

	"github.com/postbag/postbag/store"
	"github.com/postbag/postbag/store/storekit"
)

// listRow is a message as a listing walks over it: without its headers and payload,
// which are read of what matches, unless a filter asks for headers.
type listRow struct {
	logRow

	due Micros
}

// ordinal is where the row stands in the walk.
func (r *listRow) ordinal() int64 { return r.seq }

// headedPiece is how many rows come in one piece when they bring their headers, of 64 KiB at most each.
const headedPiece = 500

// chunk looks at up to size more rows of the walk, from an ordinal on.
func (l *lister) chunk(from int64, size int) (p storekit.Piece[listRow], err error) {
	if l.headed() {
		size = min(size, headedPiece)
	}
	var of reach
	switch sources := l.sources(); {
	case l.State == store.StateScheduled:
		p.Rows, err = l.scheduledRows(from, size)
		return whole(p.Rows), err
	case len(sources) > 0:
		if p, err = l.markedRows(sources, from, size); err != nil {
			return p, err
		}
		of = some(p.Rows)
	default:
		rows, err := l.logRows(from, size)
		if err != nil {
			return p, err
		}
		p, of = whole(rows), all(rows)
	}
	if len(p.Rows) == 0 {
		return p, nil
	}
	if err := l.withHeaders(p.Rows, &of); err != nil {
		return p, err
	}
	for _, sub := range l.subs {
		if err := sub.load(l.t, &of); err != nil {
			return p, err
		}
	}
	return p, nil
}

// whole is a piece all of whose rows may match.
func whole(rows []listRow) storekit.Piece[listRow] {
	p := storekit.Piece[listRow]{Rows: rows, Looked: len(rows)}
	if len(rows) > 0 {
		p.Last = rows[len(rows)-1].seq
	}
	return p
}

// reach says of which messages a statement asks: of those of a range, or of some. There may be very many others between two that
// are parked.
type reach struct {
	lo, hi int64
	some   []int64 // nil: of all in the range
}

// all is the range of rows that lie side by side.
func all(rows []listRow) reach {
	if len(rows) == 0 {
		return reach{}
	}
	first, last := rows[0].seq, rows[len(rows)-1].seq
	return reach{lo: min(first, last), hi: max(first, last)}
}

// some are the rows alone.
func some(rows []listRow) (r reach) {
	for i := range rows {
		r.some = append(r.some, rows[i].seq)
	}
	return r
}

// in has a statement about a range ask so, with these arguments before those of the messages.
func (r *reach) in(text string, args ...any) (string, []any) {
	if r.some == nil {
		return text, append(args, r.lo, r.hi)
	}
	for _, seq := range r.some {
		args = append(args, seq)
	}
	list := " IN (" + strings.Repeat("?, ", len(r.some)-1) + "?)"
	return strings.NewReplacer("p.seq >= ? AND p.seq <= ?", "p.seq"+list, "seq >= ? AND seq <= ?", "seq"+list).Replace(text), args
}

// headed says whether the listing asks filters about headers. It asks none about what is parked.
func (l *lister) headed() bool {
	return storekit.StateOf(storekit.ParkStateOf(l.State)) != l.State && slices.ContainsFunc(l.subs, func(s *listed) bool { return s.filter.AsksHeaders() })
}

// withHeaders reads the headers of rows if a filter asks for them.
func (l *lister) withHeaders(rows []listRow, of *reach) error {
	if !l.headed() {
		return nil
	}
	at := make(map[int64]*listRow, len(rows))
	for i := range rows {
		at[rows[i].seq] = &rows[i]
	}
	text, args := of.in(l.t.In(l.Box, sqlHeadersIn))
	return l.t.Query(text, args, func(rows *sql.Rows) error {
		var seq int64
		var headers sql.NullString
		err := rows.Scan(&seq, &headers)
		if row := at[seq]; row != nil {
			row.headers = headers
		}
		return err
	})
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
	text := l.t.In(l.Box, l.direct(SQLListUp, SQLListDown))
	err := l.t.Query(text, []any{start, end, size}, func(rows *sql.Rows) error {
		var r listRow
		err := rows.Scan(r.listDest()...)
		out = append(out, r)
		return err
	})
	return out, err
}

// mostOfKey is how many parked rows of a key a listing goes through by the index of hashes, which does not know their states.
const mostOfKey = 2000

// parkedSeqs returns the next parked rows of a subscription: of the key that is asked for where an index leads there, and else all
// of the state. Rows that were parked under strict order of a shard do not tell their keys.
func (l *lister) parkedSeqs(state store.State, sub, from int64, size int) ([]int64, error) {
	args := []any{int(storekit.ParkStateOf(state)), from, size}
	if l.Key != "" && l.t.KeyUp != "" {
		hash := int64(store.KeyHash(l.Key))
		strict, err := Numbers(l.t.Query, l.t.KeyAt, []any{sub, int64(store.StrictHash), 0})
		if err != nil {
			return nil, err
		}
		many, err := Numbers(l.t.Query, l.t.KeyAt, []any{sub, hash, mostOfKey})
		if err != nil {
			return nil, err
		}
		if len(strict)+len(many) == 0 {
			return Numbers(l.t.Query, l.direct(l.t.KeyUp, l.t.KeyDown), append([]any{sub, hash}, args...))
		}
	}
	return Numbers(l.t.Query, l.direct(l.t.StateUp, l.t.StateDown), append([]any{sub}, args...))
}

// listSomeDown is SQLListUp from the other end.
var listSomeDown = strings.Replace(SQLListUp, "ORDER BY seq LIMIT", "ORDER BY seq DESC LIMIT", 1)

// scheduledRows returns scheduled messages without their bytes.
func (l *lister) scheduledRows(from int64, size int) ([]listRow, error) {
	var out []listRow
	err := l.t.Query(l.direct(l.t.ScheduledUp, l.t.ScheduledDown), []any{from, l.Box, size}, func(rows *sql.Rows) error {
		var r listRow
		err := rows.Scan(append(r.listDest(), &r.due)...)
		out = append(out, r)
		return err
	})
	return out, err
}

// wholeScheduled returns scheduled messages with their bytes.
func wholeScheduled(t *Tx, text string, args ...any) ([]listRow, error) {
	var out []listRow
	err := t.Query(text, args, func(rows *sql.Rows) error {
		var r listRow
		err := rows.Scan(append(r.dest(), &r.due)...)
		out = append(out, r)
		return err
	})
	return out, err
}

// scheduled returns a scheduled message as people see it.
func (r *listRow) scheduled(now int64) store.Item {
	record := r.record()
	record.NotBefore = TimeOf(int64(r.due))
	record.Seq = 0
	return store.Item{Record: record, State: store.StateScheduled, Due: Ahead(int64(r.due), now)}
}

// listed is a subscription in a listing.
type listed struct {
	*Reader

	filter    storekit.Filter
	fault     error // of the filter, if it cannot be read
	filters   bool  // it refuses some messages
	swept     int64
	parked    map[int64]*parkedItem
	past      map[int64]*pastItem
	queued    map[int64]store.CommandKind
	discarded map[int64]bool
}

// unreadable: nobody knows which messages the filter takes.
func (l *listed) unreadable() bool { return l.fault != nil }

// parkedItem is a parked row with what listings show of it.
type parkedItem struct {
	ParkedRow

	history string
}

// pastItem is what is known of a message that was parked.
type pastItem struct {
	attempts        int
	reason, history string
}

func newListed(t *Tx, r *Reader) (*listed, error) {
	swept, err := sweptTo(t.Query, r.Box)
	if err != nil {
		return nil, err
	}
	var types, takes []byte
	if _, err := t.Row(SQLSubscription, []any{r.Box, r.Subscription}, new(int64), &types, &takes); err != nil {
		return nil, err
	}
	f, fault := FilterOf(types, takes) // one that cannot be read hides no message
	out := &listed{Reader: r, filter: storekit.FilterOf(f), fault: fault, swept: swept}
	out.filters = len(f.Types) > 0 || out.filter.Narrows()
	return out, nil
}

// load reads what the subscription knows of messages.
func (l *listed) load(t *Tx, of *reach) error {
	l.parked = make(map[int64]*parkedItem)
	l.past = make(map[int64]*pastItem)
	l.queued = make(map[int64]store.CommandKind)
	l.discarded = make(map[int64]bool)
	text, args := of.in(SQLParkedRange, l.ID)
	err := t.Query(text, args, func(rows *sql.Rows) error {
		var p parkedItem
		dest := append(append([]any{&p.Seq}, p.Dest()...), &p.history)
		err := rows.Scan(dest...)
		l.parked[p.Seq] = &p
		return err
	})
	if err != nil {
		return err
	}
	text, args = of.in(sqlPastRange, l.ID)
	err = t.Query(text, args, func(rows *sql.Rows) error {
		var seq int64
		var p pastItem
		err := rows.Scan(&seq, &p.attempts, &p.reason, &p.history)
		l.past[seq] = &p
		return err
	})
	if err != nil {
		return err
	}
	text, args = of.in(sqlQueuedRange, l.ID)
	err = t.Query(text, args, func(rows *sql.Rows) error {
		var seq int64
		var kind store.CommandKind
		err := rows.Scan(&seq, &kind)
		l.queued[seq] = max(l.queued[seq], kind)
		return err
	})
	if err != nil {
		return err
	}
	text, args = of.in(sqlDiscardedRange, l.ID)
	return t.Query(text, args, func(rows *sql.Rows) error {
		var seq int64
		err := rows.Scan(&seq)
		l.discarded[seq] = true
		return err
	})
}

// item returns a message as the subscription has it. One that the log has
// dropped is there only for who has it parked.
func (l *listed) item(row *listRow, now int64) (item store.Item, there bool) {
	record := row.record()
	item = store.Item{Record: record, Subscription: l.Subscription, State: store.StateDelivered}
	p, passed := l.parked[row.seq], l.Passed(row.seq, record.Slot)
	if p == nil && !passed {
		item.Queued = l.queued[row.seq]
	}
	switch {
	case p != nil:
		k := p.At(now)
		item.State, item.Attempts, item.Due, item.Reason = storekit.StateOf(k.State), k.Attempts, k.Delay, k.Reason
		item.Queued = l.queued[row.seq]
		return item, true
	case !l.filter.Take(&record): // passed or not: it goes nowhere
		item.State = store.StateFiltered
	case !passed:
		item.State = store.StatePending
	case l.discarded[row.seq]:
		item.State = store.StateDiscarded
	}
	if k := l.past[row.seq]; k != nil && item.State != store.StatePending {
		item.Attempts, item.Reason = k.attempts, k.reason
		if history, err := storekit.Attempts(k.history); err == nil && item.State == store.StateDelivered && storekit.Superseded(history) {
			item.State = store.StateSuperseded
		}
	}
	return item, row.seq > l.swept
}

// history returns the stored history of a message, empty if it has none.
func (l *listed) history(seq int64) string {
	switch {
	case l.parked[seq] != nil:
		return l.parked[seq].history
	case l.past[seq] != nil:
		return l.past[seq].history
	}
	return ""
}
