package sqlkit

import (
	"database/sql"
	"fmt"

	"github.com/postbag/postbag/store"
	"github.com/postbag/postbag/store/storekit"
)

// settingBack is where the log of a box begins, while its subscriptions are set back in parts. Retention begins again at
// zero then, so that nothing is lost by it. It stays if the process ends: the next one sees that the rest is to be done, even if
// producers have written on meanwhile and the log looks like the one that it was.
const settingBack = -1

// ForgetSome deletes some of the rows that [Tx.SetBack] would delete of subscriptions. A store commits and begins again as long as there may
// be more. So no transaction is long, however many rows there are. What is deleted comes again once the subscription is set back. Until
// then their boxes are in [Tx.SettingBack].
func (t *Tx) ForgetSome(refs []store.Ref) (more bool, err error) {
	for _, r := range refs {
		id, err := t.Subscription(r)
		if err != nil {
			return false, err
		}
		if more, err = t.deleteSome(id); err != nil {
			return false, err
		}
		if more {
			return true, t.markSettingBack(refs)
		}
	}
	return false, nil
}

// markSettingBack notes that the boxes of subscriptions are set back in parts.
func (t *Tx) markSettingBack(refs []store.Ref) error {
	orders := make([]Order, 0, len(refs))
	for _, r := range refs {
		orders = append(orders, Order{Text: SQLSetSwept, Args: []any{settingBack, r.Box}})
	}
	_, err := t.All(orders)
	return err
}

// SettingBack adds the boxes whose subscriptions are set back in parts to boxes.
func (t *Tx) SettingBack(boxes map[string]bool) error {
	return t.Query(sqlSettingBack, nil, func(rows *sql.Rows) error {
		var box string
		err := rows.Scan(&box)
		boxes[box] = true
		return err
	})
}

// AllAreSetBack ends with the last part: it forgets the mark of boxes whose subscriptions were all removed meanwhile.
func (t *Tx) AllAreSetBack() error {
	left := make(map[string]bool)
	if err := t.SettingBack(left); err != nil {
		return err
	}
	for box := range left {
		if _, err := t.Exec(SQLSetSwept, 0, box); err != nil {
			return err
		}
	}
	return nil
}

// NotSettingBack returns ErrMoved if a box whose log begins after swept is set back in parts. The Check that this leads to
// does the rest.
func NotSettingBack(box string, swept int64) error {
	if swept >= 0 {
		return nil
	}
	return fmt.Errorf("the subscriptions of box %s are being set back, since its log is not the one that their positions were written in: %w",
		box, store.ErrMoved)
}

// SetBack starts a subscription again from all that its box still holds. Nobody knows
// which of these messages were delivered. It ends the leases, and deletes parked rows,
// commands and ledger. The audit log says so, and why.
func (t *Tx) SetBack(r store.Ref, why string) error {
	id, err := t.Subscription(r)
	if err != nil {
		return err
	}
	orders := []Order{
		{Text: SQLSetSwept, Args: []any{0, r.Box}},
		{Text: sqlForgetAllFloors, Args: []any{r.Box}},
		{Text: SQLAudit, Args: []any{t.Now, storekit.Itself, why, "set back " + r.String()}},
	}
	for _, text := range []string{sqlSetBack, sqlVoidLeases, sqlForgetParked, sqlForgetCommands, sqlForgetLedger, sqlForgetPast, sqlForgetFates} {
		orders = append(orders, Order{Text: text, Args: []any{id}})
	}
	t.Moved = true
	_, err = t.All(orders)
	return err
}
