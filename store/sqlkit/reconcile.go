package sqlkit

import (
	"github.com/postbag/postbag/store"
	"github.com/postbag/postbag/store/storekit"
)

// ForgetSome deletes some of the rows that [Tx.SetBack] would delete of subscriptions. A store commits and begins again as long as there may
// be more. So no transaction is long, however many rows there are. What is deleted comes again once the subscription is set back. It must
// still be seen then that it has to be: nothing here changes a position.
func (t *Tx) ForgetSome(refs []store.Ref) (more bool, err error) {
	for _, r := range refs {
		id, err := t.Subscription(r)
		if err != nil {
			return false, err
		}
		if more, err := t.deleteSome(id); err != nil || more {
			return more, err
		}
	}
	return false, nil
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
