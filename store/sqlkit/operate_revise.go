package sqlkit

import (
	"context"

	"github.com/postbag/postbag"
	"github.com/postbag/postbag/store"
	"github.com/postbag/postbag/store/storekit"
)

// Revise publishes an edited message through the store that Base is of; see [store.Reviser].
func (s *Base) Revise(ctx context.Context, to postbag.Appender[postbag.SQLTx], a store.Audit, box string, of postbag.ID, m postbag.Message) error {
	doing := "edit a message of box " + box
	if err := storekit.CheckAudit(a); err != nil {
		return s.dialect.Translate(doing, err)
	}
	now, err := s.hooks.Now(ctx)
	if err != nil {
		return s.dialect.Translate(doing, err)
	}
	return storekit.Revise(ctx, to, box, of, m, func(ctx context.Context, tx postbag.SQLTx, what string) error {
		_, err := tx.ExecContext(ctx, SQLAudit, now, a.Who, a.Why, what)
		return s.dialect.Translate(doing, err)
	})
}
