package sqlitestore

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
	next, err := m.nextScheduled(ctx)
	for err == nil && next.Valid && next.Int64 <= m.s.micros() && !m.Late() {
		err = m.promoteSome(ctx)
		if err == nil {
			m.s.Wake(m.Box)
			next, err = m.nextScheduled(ctx)
		}
	}
	m.Report.NextDue = sqlkit.Wait(next, m.s.micros())
	return err
}

// promoteSome moves some, or sets them aside.
func (m *maintenance) promoteSome(ctx context.Context) error {
	var moved, refused int64
	err := m.Write(ctx, func(t *sqlkit.Tx) (err error) {
		refused = 0
		moved, err = t.Exec(fmt.Sprintf(sqlPromote, quoted(m.Box)), m.Box, t.Now, promoteRows)
		if rowRefused(err) {
			moved, refused, err = m.promoteEach(t)
			return err
		}
		if err != nil || moved == 0 {
			return err
		}
		_, err = t.Exec(sqlPromoted, m.Box, t.Now, promoteRows)
		return err
	})
	if err != nil {
		return err
	}
	m.Report.Promoted += moved
	if refused > 0 {
		m.Faultf("%d scheduled messages of box %s are set aside, since they break the constraints of the box: find them with "+
			"postbag messages list --state scheduled, due at the end of time, and discard them", refused, m.Box)
	}
	return nil
}

// promoteEach moves rows one by one. A statement that is refused takes back itself
// alone. What breaks the box's constraints is set aside: it is due at the end of time.
func (m *maintenance) promoteEach(t *sqlkit.Tx) (moved, refused int64, err error) {
	due, err := sqlkit.Numbers(t.Query, sqlDueScheduled, []any{m.Box, t.Now, promoteRows})
	for _, n := range due {
		if err != nil {
			break
		}
		_, err = t.Exec(fmt.Sprintf(sqlPromoteOne, quoted(m.Box)), n, t.Now)
		switch {
		case err == nil:
			moved++
			_, err = t.Exec(sqlPromotedOne, n)
		case rowRefused(err):
			refused++
			_, err = t.Exec(sqlPostponeForever, n)
		}
	}
	return moved, refused, err
}

func (m *maintenance) nextScheduled(ctx context.Context) (sql.NullInt64, error) {
	var next sql.NullInt64
	_, err := m.s.row(ctx, sqlNextScheduled, []any{m.Box}, &next)
	return next, err
}
