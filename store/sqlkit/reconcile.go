package sqlkit

import (
	"github.com/postbag/postbag/store"
	"github.com/postbag/postbag/store/storekit"
)

// SetBack lets a subscription begin anew, with all that its box still holds: which
// of it was delivered, nobody knows. Its leases are void, and parked rows, orders
// and ledger begin anew too. The audit log says so, and why.
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
