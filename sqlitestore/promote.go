package sqlitestore

import (
	"context"
	"database/sql"
	"fmt"

	"github.com/postbag/postbag/internal/sqlstore"
)

// promoteRows is how many scheduled messages one transaction moves to the log.
const promoteRows = 500

// promote moves scheduled messages that are due into the log, in the order in
// which they are due.
func (m *maintenance) promote(ctx context.Context) error {
	next, err := m.nextScheduled(ctx)
	for err == nil && next.Valid && next.Int64 <= m.s.micros() && !m.Late() {
		err = m.Write(ctx, func(t *sqlstore.Tx) error {
			moved, err := t.Exec(fmt.Sprintf(sqlPromote, quoted(m.Box)), m.Box, t.Now, promoteRows)
			if err != nil || moved == 0 {
				return err
			}
			m.Report.Promoted += moved
			_, err = t.Exec(sqlPromoted, m.Box, t.Now, promoteRows)
			return err
		})
		if err == nil {
			m.s.Wake(m.Box)
			next, err = m.nextScheduled(ctx)
		}
	}
	m.Report.NextDue = sqlstore.Wait(next, m.s.micros())
	return err
}

func (m *maintenance) nextScheduled(ctx context.Context) (sql.NullInt64, error) {
	var next sql.NullInt64
	_, err := m.s.row(ctx, sqlNextScheduled, []any{m.Box}, &next)
	return next, err
}
