package pgstore

import (
	"context"

	"github.com/jackc/pgx/v5"

	"github.com/postbag/postbag"
	"github.com/postbag/postbag/store"
	"github.com/postbag/postbag/store/storekit"
)

var _ store.Reviser = (*Store)(nil)

// Revise implements store.Reviser.
func (s *Store) Revise(ctx context.Context, a store.Audit, box string, of postbag.ID, m postbag.Message) error {
	a, err := audited(a)
	if err != nil {
		return translateError("edit a message of box "+box, err)
	}
	return storekit.Revise(ctx, s, box, of, m, func(ctx context.Context, tx pgx.Tx, what string) error {
		_, err := tx.Exec(ctx, s.statements.get("note", "").sql, a.Who, a.Why, what)
		return translateError("edit a message of box "+box, err)
	})
}
