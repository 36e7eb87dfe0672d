package enttx

import (
	"context"
	"errors"

	"github.com/postbag/postbag"
	"github.com/postbag/postbag/examples/enttx/ent"
	"github.com/postbag/postbag/examples/internal/shop"
)

// Place saves an order and publishes its message; both or neither.
func Place(ctx context.Context, client *ent.Client, pub *postbag.Publisher[postbag.SQLTx], o shop.Order) error {
	tx, err := client.Tx(ctx)
	if err != nil {
		return err
	}
	_, err = tx.Order.Create().SetCustomer(o.Customer).SetCents(o.Cents).Save(ctx)
	if err == nil {
		err = pub.Publish(ctx, tx, shop.Placed.Message(o))
	}
	if err != nil {
		return errors.Join(err, tx.Rollback())
	}
	return tx.Commit()
}
