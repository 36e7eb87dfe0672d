package sqlxtx

import (
	"context"
	"errors"

	"github.com/jmoiron/sqlx"

	"github.com/postbag/postbag"
	"github.com/postbag/postbag/examples/internal/shop"
)

// Place saves an order and publishes its message; both or neither.
func Place(ctx context.Context, db *sqlx.DB, pub *postbag.Publisher[postbag.SQLTx], o shop.Order) error {
	tx, err := db.BeginTxx(ctx, nil)
	if err != nil {
		return err
	}
	_, err = tx.NamedExecContext(ctx, `insert into orders (customer, cents) values (:customer, :cents)`, o)
	if err == nil {
		err = pub.Publish(ctx, tx, shop.Placed.Message(o))
	}
	if err != nil {
		return errors.Join(err, tx.Rollback())
	}
	return tx.Commit()
}
