package sqlkit

import (
	"database/sql"

	"github.com/postbag/postbag/store/storekit"
)

// FirstReady returns when the first parked message of some slots may be tried.
func (d *Dialect) FirstReady(query Querier, id int64, slots storekit.SlotSet) (sql.NullInt64, error) {
	var next sql.NullInt64
	err := query(d.NextReady, []any{id}, func(rows *sql.Rows) error {
		var slot int
		var ready int64
		if err := rows.Scan(&slot, &ready); err != nil {
			return err
		}
		if slots.Contains(slot) {
			next = sql.NullInt64{Int64: ready, Valid: true}
			return ErrEnough
		}
		return nil
	})
	return next, err
}
