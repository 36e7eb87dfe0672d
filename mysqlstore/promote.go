package mysqlstore

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
	for {
		next, now, err := m.nextScheduled(ctx)
		if err != nil {
			return err
		}
		m.Report.NextDue = sqlstore.Wait(next, now)
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
		m.Report.Promoted += moved
		m.s.Wake(m.Box)
	}
}

func (m *maintenance) promoteSome(ctx context.Context) (moved int64, err error) {
	err = m.Write(ctx, func(t *sqlstore.Tx) error {
		due, err := sqlstore.Numbers(t.Query, sqlDueScheduled, []any{m.Box, t.Now, promoteRows})
		if err != nil || len(due) == 0 {
			moved = 0
			return err
		}
		if moved, err = t.Exec(fmt.Sprintf(sqlPromote, tableOf(m.Box), list(due))); err != nil {
			return err
		}
		_, err = t.Exec(fmt.Sprintf(sqlPromoted, list(due)))
		return err
	})
	return moved, err
}

// nextScheduled returns when the next scheduled message is due, and what time it is.
func (m *maintenance) nextScheduled(ctx context.Context) (next sql.NullInt64, now int64, err error) {
	if _, err = m.s.row(ctx, sqlNextScheduled, []any{m.Box}, &next); err == nil && next.Valid {
		now, err = m.s.now(ctx)
	}
	return next, now, err
}
