package buntx

import (
	"context"

	"github.com/uptrace/bun"

	"github.com/postbag/postbag"
	"github.com/postbag/postbag/examples/internal/shop"
)

// order is bun's model of an order.
type order struct {
	bun.BaseModel `bun:"table:orders"`

	ID       int64 `bun:",pk,autoincrement"`
	Customer string
	Cents    int
}

// Place saves an order and publishes its message; both or neither.
func Place(ctx context.Context, db *bun.DB, pub *postbag.Publisher[postbag.SQLTx], o shop.Order) error {
	return db.RunInTx(ctx, nil, func(ctx context.Context, tx bun.Tx) error {
		if _, err := tx.NewInsert().Model(&order{Customer: o.Customer, Cents: o.Cents}).Exec(ctx); err != nil {
			return err
		}
		// bun.Tx rewrites the placeholders of a statement; the *sql.Tx inside it does not.
		return pub.Publish(ctx, tx.Tx, shop.Placed.Message(o))
	})
}
