package sqlitestore

import (
	"context"
	"database/sql"
	"fmt"
)

// promoteRows is how many scheduled messages one transaction moves to the log.
const promoteRows = 500

// promote moves scheduled messages that are due into the log, in the order in
// which they are due.
func (m *maintenance) promote(ctx context.Context) error {
	next, err := m.nextScheduled(ctx)
	for err == nil && next.Valid && next.Int64 <= m.s.micros() && !m.late() {
		err = m.write(ctx, func(t *transaction) error {
			moved, err := t.exec(fmt.Sprintf(sqlPromote, quoted(m.Box)), m.Box, t.now, promoteRows)
			if err != nil || moved == 0 {
				return err
			}
			m.report.Promoted += moved
			_, err = t.exec(sqlPromoted, m.Box, t.now, promoteRows)
			return err
		})
		if err == nil {
			m.s.Wake(m.Box)
			next, err = m.nextScheduled(ctx)
		}
	}
	m.report.NextDue = wait(next, m.s.micros())
	return err
}

func (m *maintenance) nextScheduled(ctx context.Context) (sql.NullInt64, error) {
	var next sql.NullInt64
	_, err := m.s.row(ctx, sqlNextScheduled, []any{m.Box}, &next)
	return next, err
}
