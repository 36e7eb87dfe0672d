package mysqlstore

import (
	"context"
	"database/sql"
	"fmt"
	"slices"

	"github.com/postbag/postbag/store"
	"github.com/postbag/postbag/store/sqlkit"
	"github.com/postbag/postbag/store/storekit"
)

// Below the beginning of the log are the messages that were parked when retention came
// by, and tombstones. Any session can write there too, with a seq that it has chosen, and
// no relay ever comes by. So what retention keeps is listed in the transaction that lets
// the log begin behind it. What is there and not on the list is a stray: nobody has read
// it. The list is among the fates of the box's maintenance subscription, which has none of
// its own, and ends with those of the same range. Beside it stands, as a negative number,
// up to which seq the list is whole. A partition that is passed as a whole is not on the
// list, which goes on behind it once it is dropped.

// enlist puts what is left of a range on the list.
func (m *maintenance) enlist(t *sqlkit.Tx, after, to int64) error {
	id, err := t.Subscription(m.Ref)
	if err == nil {
		_, err = t.Exec(fmt.Sprintf(sqlEnlist, tableOf(m.Box)), id, after, to)
	}
	return err
}

// listedTo notes that the list, which was whole up to before, is whole up to a seq. If it
// was not, another program has moved the beginning of the log, and nothing is noted.
func (m *maintenance) listedTo(t *sqlkit.Tx, before, to int64) error {
	id, err := t.Subscription(m.Ref)
	if err != nil {
		return err
	}
	listed, err := listedUpTo(t.Query, id)
	if err != nil || listed != before {
		return err
	}
	return setListed(t, id, to)
}

// forgetPart forgets what became of the messages of a partition that was dropped. A list that
// was whole up to it is then whole up to its end.
func (m *maintenance) forgetPart(t *sqlkit.Tx, p partition) error {
	if err := m.forgetFates(t, p.lo-1, p.hi); err != nil {
		return err
	}
	id, err := t.Subscription(m.Ref)
	if err != nil {
		return err
	}
	listed, err := listedUpTo(t.Query, id)
	if err != nil || listed < p.lo-1 || listed >= p.hi {
		return err
	}
	return setListed(t, id, p.hi)
}

func setListed(t *sqlkit.Tx, id, to int64) error {
	_, err := t.All([]sqlkit.Order{{Text: sqlForgetListed, Args: []any{id}}, {Text: sqlSetListed, Args: []any{id, -to}}})
	return err
}

// listedUpTo returns up to which seq the list is whole.
func listedUpTo(query sqlkit.Querier, id int64) (to int64, err error) {
	_, err = sqlkit.Row(query, sqlListedUpTo, []any{id}, &to)
	return to, err
}

// relist makes the list longer by some rows, until it is whole: all that is there now was
// kept. It does so once for a box of an older version, and again where a program of one has
// moved the beginning of the log. Where somebody has taken away the partitions, it takes in
// what was left of those that waited for their drop.
func (m *maintenance) relist(ctx context.Context) error {
	return m.Write(ctx, func(t *sqlkit.Tx) error {
		var swept int64
		if _, err := t.Row(sqlLockBox, []any{m.Box}, &swept); err != nil {
			return err
		}
		id, err := t.Subscription(m.Ref)
		if err != nil {
			return err
		}
		listed, err := listedUpTo(t.Query, id)
		if err != nil || listed == swept {
			return err
		}
		if listed > swept { // it is another log's
			listed = 0
			_, err = t.Exec(sqlForgetDiscardedOf, id)
		}
		if err != nil {
			return err
		}
		end, err := t.Nth(t.Query, m.Box, listed, swept, sweepRows)
		if err == nil {
			err = m.enlist(t, listed, end)
		}
		if err != nil {
			return err
		}
		return setListed(t, id, end)
	})
}

// recheckKept deletes rows that were kept because they were parked, and are not any more,
// and old tombstones. Strays it sends late. It looks at some of them each time, in turns.
func (m *maintenance) recheckKept(ctx context.Context) error {
	query := m.Query(ctx)
	below, err := sqlkit.Numbers(query, fmt.Sprintf(sqlBelowOne, tableOf(m.Box)), nil)
	if err == nil && len(below) > 0 {
		err = m.sendLate(ctx, below)
	}
	if err != nil {
		return err
	}
	swept, err := sqlkit.Swept(query, m.Box)
	if err != nil || swept == 0 {
		return err
	}
	to, err := m.settledTo(query, swept)
	if err != nil || to == 0 {
		return err
	}
	after := m.s.kept.Of(m.Box)
	end, err := dialect.Nth(query, m.Box, after, to, sweepRows)
	if err != nil {
		return err
	}
	m.s.kept.Set(m.Box, end%to)
	if end <= after {
		return nil
	}
	v, err := m.lookAtKept(query, after, end)
	if err == nil && v.listedTo != swept && !m.dropping(swept) {
		if err = m.relist(ctx); err == nil {
			v, err = m.lookAtKept(query, after, end)
		}
	}
	if err != nil {
		return err
	}
	if len(v.strays) > 0 {
		if err := m.sendLate(ctx, v.strays); err != nil {
			return err
		}
	}
	if len(v.loose) == 0 {
		return nil
	}
	return m.removeKept(ctx, after, end)
}

// keptRows are those of a range below the beginning of the log, by what is to become of them.
type keptRows struct {
	stays  []int64 // parked
	loose  []int64 // listed and not parked any more, and old tombstones
	strays []int64

	listedTo int64 // the list is whole up to here
}

// lookAtKept looks at a range below the beginning of the log.
func (m *maintenance) lookAtKept(query sqlkit.Querier, after, end int64) (v keptRows, err error) {
	var now, id int64
	if _, err := sqlkit.Row(query, sqlClock, nil, &now); err != nil {
		return v, err
	}
	if id, v.listedTo, err = m.listed(query); err != nil {
		return v, err
	}
	parked, err := sqlkit.Numbers(query, sqlKeptRanges, []any{m.Box, after, end})
	if err != nil {
		return v, err
	}
	seqs, err := sqlkit.Numbers(query, sqlListed, []any{id, after, end})
	if err != nil {
		return v, err
	}
	stays, listed := rangesOf(parked), rangesOf(seqs)
	err = query(fmt.Sprintf(sqlKept, tableOf(m.Box)), []any{after, end}, func(rows *sql.Rows) error {
		var seq, at int64
		var slot int
		if err := rows.Scan(&seq, &at, &slot); err != nil {
			return err
		}
		switch {
		case slot == tombstoneSlot:
			if at < now-m.s.tombstoneKeep.Microseconds() {
				v.loose = append(v.loose, seq)
			}
		case stays.contains(seq):
			v.stays = append(v.stays, seq)
		case listed.contains(seq) || seq > v.listedTo:
			v.loose = append(v.loose, seq)
		default:
			v.strays = append(v.strays, seq)
		}
		return nil
	})
	return v, err
}

// removeKept deletes the rows of a range below the log's beginning that nothing keeps, each by its seq: a stray that comes
// meanwhile stays. A log that was emptied and numbered again begins below the range, with messages that nobody
// has read: in the transaction of the deletion the box is locked, so that none begins
// again meanwhile, and it is looked again where it begins.
func (m *maintenance) removeKept(ctx context.Context, after, end int64) error {
	var gone int64
	err := m.Write(ctx, func(t *sqlkit.Tx) error {
		gone = 0
		if same, err := m.lockKept(t, end); err != nil || !same {
			return err
		}
		v, err := m.lookAtKept(t.Query, after, end)
		if err != nil || len(v.loose) == 0 {
			return err
		}
		if gone, err = t.Exec(fmt.Sprintf(sqlDeleteRows, tableOf(m.Box), list(v.loose))); err != nil {
			return err
		}
		if err := m.forgetFates(t, after, end); err != nil || len(v.stays) == 0 {
			return err
		}
		id, err := t.Subscription(m.Ref)
		if err == nil {
			_, err = t.Exec(fmt.Sprintf(sqlEnlistThese, tableOf(m.Box), list(v.stays)), id)
		}
		return err
	})
	if err == nil {
		m.Report.Deleted += gone
	}
	return err
}

// lockKept locks the box, and says whether the log begins above a seq. It returns ErrMoved
// if the log is not the one that positions are of.
func (m *maintenance) lockKept(t *sqlkit.Tx, end int64) (bool, error) {
	var swept int64
	if _, err := t.Row(sqlLockBox, []any{m.Box}, &swept); err != nil || swept < end {
		return false, err
	}
	readers, err := t.Readers(t.Query, m.Box)
	if err == nil {
		err = m.passedThis(t.Query, readers)
	}
	return err == nil, err
}

// sendLate gives strays new seqs at the end of the log, where they are read, and says so.
func (m *maintenance) sendLate(ctx context.Context, strays []int64) error {
	var moved int64
	lowest := slices.Min(strays)
	err := m.Write(ctx, func(t *sqlkit.Tx) error {
		moved = 0
		if same, err := m.lockKept(t, max(slices.Max(strays), 0)); err != nil || !same {
			return err
		}
		_, err := t.Exec(fmt.Sprintf(sqlSendLate, tableOf(m.Box), list(strays)))
		if err == nil {
			moved, err = t.Exec(fmt.Sprintf(sqlDeleteRows, tableOf(m.Box), list(strays)))
		}
		if err != nil || moved == 0 {
			return err
		}
		_, err = t.Exec(sqlkit.SQLAudit, t.Now, storekit.Itself,
			"a session has chosen their seqs, where no relay reads any more",
			fmt.Sprintf("send %s: %d messages from seq %d on, late and under new seqs", m.Box, moved, lowest))
		return err
	})
	if rowRefused(err) {
		m.Faultf("%d rows of box %s from seq %d on are never delivered: a session has chosen their seqs, and they break "+
			"the constraints of the box: copy them away and delete them", len(strays), m.Box, lowest)
		return nil
	}
	if err != nil || moved == 0 {
		return err
	}
	m.Faultf("%d messages of box %s from seq %d on were written where no relay reads any more, and are sent late under new seqs: "+
		"a session has chosen their seqs (insert_id, or an INSERT with seq)", moved, m.Box, lowest)
	m.s.Wake(m.Box)
	return nil
}

// dropping says whether a partition that everybody has passed waits to be dropped. Its rows
// are on no list.
func (m *maintenance) dropping(swept int64) bool {
	return slices.ContainsFunc(m.parts, func(p partition) bool { return p.hi <= swept && !slices.Contains(m.held, p) })
}

// settledTo returns up to which seq rows below the log's beginning are looked at: all of
// them, or while a partition waits for its drop, those of which the list tells.
func (m *maintenance) settledTo(query sqlkit.Querier, swept int64) (int64, error) {
	if !m.dropping(swept) {
		return swept, nil
	}
	_, listed, err := m.listed(query)
	return min(listed, swept), err
}

// listed returns the subscription that has the box's list, and up to which seq that is whole.
func (m *maintenance) listed(query sqlkit.Querier) (id, to int64, err error) {
	if _, err = sqlkit.Row(query, sqlkit.SQLSubscription, []any{m.Box, store.Maintenance}, &id, new([]byte), new([]byte)); err == nil {
		to, err = listedUpTo(query, id)
	}
	return id, to, err
}

// straysIn says whether there are strays in a partition, as far as the list tells: it is not
// to be dropped with them.
func (m *maintenance) straysIn(query sqlkit.Querier, p partition) (bool, error) {
	_, listed, err := m.listed(query)
	to := min(listed, p.hi)
	if err != nil || to < p.lo {
		return false, err
	}
	v, err := m.lookAtKept(query, p.lo-1, to)
	return len(v.strays) > 0, err
}
