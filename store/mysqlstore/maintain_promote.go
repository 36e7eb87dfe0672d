package mysqlstore

import (
	"context"
	"database/sql"
	"fmt"

	"github.com/postbag/postbag/store/sqlkit"
)

// promoteRows is how many scheduled messages one transaction moves to the log.
const promoteRows = 500

// promote moves scheduled messages that are due into the log, in the order in
// which they are due.
func (m *maintenance) promote(ctx context.Context) error {
	for {
		next, now, err := m.nextScheduled(ctx)
		if err != nil {
			return err
		}
		m.Report.NextDue = sqlkit.Wait(next, now)
		if !next.Valid || next.Int64 > now || m.Late() {
			return nil
		}
		moved, err := m.promoteSome(ctx)
		if err != nil {
			return err
		}
		if moved == 0 { // somebody is about to cancel them
			return nil
		}
		m.s.Wake(m.Box)
	}
}

// promoteSome returns how many messages it has moved or set aside.
func (m *maintenance) promoteSome(ctx context.Context) (done int64, err error) {
	var moved int64
	var refused int
	err = m.Write(ctx, func(t *sqlkit.Tx) error {
		moved, refused = 0, 0
		due, err := sqlkit.Numbers(t.Query, sqlDueScheduled, []any{m.Box, t.Now, promoteRows})
		if err != nil || len(due) == 0 {
			return err
		}
		moved, err = t.Exec(fmt.Sprintf(sqlPromote, tableOf(m.Box), list(due)))
		if rowRefused(err) {
			moved, due, refused, err = m.promoteEach(t, due)
		}
		if err != nil || len(due) == 0 {
			return err
		}
		_, err = t.Exec(fmt.Sprintf(sqlPromoted, list(due)))
		return err
	})
	if err != nil {
		return 0, err
	}
	m.Report.Promoted += moved
	if refused > 0 {
		m.Faultf("%d scheduled messages of box %s are set aside, since they break the constraints of the box: find them with "+
			"postbag messages list --state scheduled, due at the end of time, and discard them", refused, m.Box)
	}
	return moved + int64(refused), nil
}

// promoteEach moves rows one by one. A statement that is refused takes back itself
// alone. What breaks the box's constraints is set aside: it is due at the end of time.
func (m *maintenance) promoteEach(t *sqlkit.Tx, due []int64) (moved int64, gone []int64, refused int, err error) {
	for _, n := range due {
		one := []int64{n}
		_, err := t.Exec(fmt.Sprintf(sqlPromote, tableOf(m.Box), list(one)))
		switch {
		case err == nil:
			moved, gone = moved+1, append(gone, n)
		case rowRefused(err):
			refused++
			if _, err := t.Exec(fmt.Sprintf(sqlPostponeForever, list(one))); err != nil {
				return 0, nil, 0, err
			}
		default:
			return 0, nil, 0, err
		}
	}
	return moved, gone, refused, nil
}

// nextScheduled returns when the next scheduled message is due, and what time it is.
func (m *maintenance) nextScheduled(ctx context.Context) (next sql.NullInt64, now int64, err error) {
	if _, err = m.s.row(ctx, sqlNextScheduled, []any{m.Box}, &next); err == nil && next.Valid {
		now, err = m.s.now(ctx)
	}
	return next, now, err
}
