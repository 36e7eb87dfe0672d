package sqlstore

import (
	"database/sql"

	"github.com/postbag/postbag"
	"github.com/postbag/postbag/store"
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

// maxCommands is the most commands that a Turn brings.
const maxCommands = 1000

// AppendCommands appends the commands that wait for some slots of a subscription,
// in their order, as long as there are not too many.
func (d *Dialect) AppendCommands(query Querier, all []store.Command, r store.Ref, id int64, slots storekit.SlotSet, now int64,
) ([]store.Command, error) {
	err := query(d.In(r.Box, d.Commands), []any{id}, func(rows *sql.Rows) error {
		if len(all) >= maxCommands {
			return ErrEnough
		}
		c := store.Command{Ref: r}
		var p ParkedRow
		var message []byte
		if err := rows.Scan(append([]any{&c.ID, &c.Kind, &p.Seq}, append(p.Dest(), &message)...)...); err != nil {
			return err
		}
		if !slots.Contains(p.Slot) || len(message) != len(c.Message) {
			return nil
		}
		c.Park, c.Message = p.At(now), postbag.ID(message)
		all = append(all, c)
		return nil
	})
	return all, err
}
