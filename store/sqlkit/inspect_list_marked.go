package sqlkit

import (
	"cmp"
	"database/sql"
	"slices"
	"strings"

	"github.com/postbag/postbag/store"
	"github.com/postbag/postbag/store/storekit"
)

// Where a listing finds messages of which a subscription knows something, without the log. Ranges of the primary keys, in either
// direction, ended by the limit.
const (
	SQLDiscardedUp   = `SELECT seq, '' FROM postbag__discarded WHERE subscription = ? AND seq >= ? ORDER BY seq LIMIT ?`
	SQLDiscardedDown = `SELECT seq, '' FROM postbag__discarded WHERE subscription = ? AND seq <= ? ORDER BY seq DESC LIMIT ?`
	SQLPastUp        = `SELECT seq, reason FROM postbag__past WHERE subscription = ? AND seq >= ? ORDER BY seq LIMIT ?`
	SQLPastDown      = `SELECT seq, reason FROM postbag__past WHERE subscription = ? AND seq <= ? ORDER BY seq DESC LIMIT ?`

	// SQLReasons are the errors of parked rows by a range of the primary key.
	SQLReasons = `SELECT p.seq, p.reason FROM postbag__parked p WHERE p.subscription = ? AND p.seq >= ? AND p.seq <= ?`
)

// mark is a message of which a subscription knows something, with its error.
type mark struct {
	seq    int64
	reason string
}

// source returns the next marks of a subscription from a seq on.
type source func(sub, from int64, size int) ([]mark, error)

// sources returns where messages that can match are found without the log. None: only the log tells.
func (l *lister) sources() []source {
	past := l.marks(SQLPastUp, SQLPastDown)
	switch {
	case slices.Contains([]store.State{store.StateRetrying, store.StateBlocked, store.StateInFlight, store.StateDead, store.StateHeld}, l.State):
		return []source{func(sub, from int64, size int) ([]mark, error) {
			return l.parkedMarks(l.State, sub, from, size)
		}}
	case l.State == store.StateDiscarded:
		return []source{l.marks(SQLDiscardedUp, SQLDiscardedDown)}
	case l.State == store.StateSuperseded, l.Error != "" && l.State == store.StateDelivered:
		return []source{past}
	case l.Error != "" && l.State == "":
		all := []source{past}
		for _, state := range []store.State{store.StateRetrying, store.StateBlocked, store.StateInFlight, store.StateDead, store.StateHeld} {
			all = append(all, func(sub, from int64, size int) ([]mark, error) { return l.parkedMarks(state, sub, from, size) })
		}
		return all
	}
	return nil
}

// marks is the source of a table.
func (l *lister) marks(up, down string) source {
	return func(sub, from int64, size int) (out []mark, err error) {
		err = l.t.Query(l.direct(up, down), []any{sub, from, size}, func(rows *sql.Rows) error {
			var m mark
			err := rows.Scan(&m.seq, &m.reason)
			out = append(out, m)
			return err
		})
		return out, err
	}
}

// parkedMarks are those of messages that are parked in a state. Their errors are read only if the query asks for one.
func (l *lister) parkedMarks(state store.State, sub, from int64, size int) ([]mark, error) {
	seqs, err := l.parkedSeqs(state, sub, from, size)
	if err != nil || len(seqs) == 0 {
		return nil, err
	}
	reasons := make(map[int64]string)
	if l.Error != "" {
		of := reach{some: seqs}
		text, args := of.in(SQLReasons, sub)
		err = l.t.Query(text, args, func(rows *sql.Rows) error {
			var m mark
			err := rows.Scan(&m.seq, &m.reason)
			reasons[m.seq] = m.reason
			return err
		})
	}
	out := make([]mark, len(seqs))
	for i, seq := range seqs {
		out[i] = mark{seq, reasons[seq]}
	}
	return out, err
}

// markedRows returns the rows of messages that sources lead to: the next of each subscription, merged.
func (l *lister) markedRows(sources []source, from int64, size int) (p storekit.Piece[listRow], err error) {
	var found []mark
	for _, sub := range l.subs {
		for _, of := range sources {
			more, err := of(sub.ID, from, size)
			if err != nil {
				return p, err
			}
			found = append(found, more...)
		}
	}
	seqs := l.merge(&p, found, size)
	if len(seqs) == 0 {
		return p, nil
	}
	of := reach{some: seqs}
	text, args := of.in(l.t.In(l.Box, l.direct(SQLListUp, listSomeDown)))
	err = l.t.Query(text, append(args, len(seqs)), func(rows *sql.Rows) error {
		var r listRow
		err := rows.Scan(r.listDest()...)
		p.Rows = append(p.Rows, r)
		return err
	})
	return p, err
}

// merge returns the seqs of the first messages among marks that have the error which is asked for, and notes how many were looked at.
func (l *lister) merge(p *storekit.Piece[listRow], found []mark, size int) (seqs []int64) {
	way := 1
	if !l.Oldest {
		way = -1
	}
	slices.SortFunc(found, func(a, b mark) int { return way * cmp.Compare(a.seq, b.seq) })
	wanted := strings.ToLower(l.Error)
	if l.State == store.StateDiscarded { // its error is elsewhere
		wanted = ""
	}
	for i, m := range found {
		if i == 0 || m.seq != p.Last {
			if p.Looked == size {
				break
			}
			p.Looked, p.Last = p.Looked+1, m.seq
		}
		if (len(seqs) == 0 || seqs[len(seqs)-1] != m.seq) && strings.Contains(strings.ToLower(m.reason), wanted) {
			seqs = append(seqs, m.seq)
		}
	}
	return seqs
}
