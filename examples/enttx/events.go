package enttx

import (
	"context"
	"errors"

	"github.com/postbag/postbag"
	"github.com/postbag/postbag/examples/enttx/ent"
	"github.com/postbag/postbag/examples/internal/shop"
)

// basket is an aggregate over a generated entity: its methods raise events.
type basket struct {
	order *ent.Order
	postbag.DomainEvents
}

func (b *basket) place() {
	b.Raise(shop.Placed.Message(shop.Order{Customer: b.order.Customer, Cents: b.order.Cents}))
}

// publishAtCommit publishes what the aggregate has raised when the transaction commits.
func publishAtCommit(tx *ent.Tx, pub *postbag.Publisher[postbag.SQLTx], a postbag.Aggregate) {
	tx.OnCommit(func(next ent.Committer) ent.Committer {
		return ent.CommitFunc(func(ctx context.Context, tx *ent.Tx) error {
			if err := pub.PublishEvents(ctx, tx, a); err != nil {
				return err
			}
			return next.Commit(ctx, tx)
		})
	})
}

// PlaceBasket saves an aggregate with its events; both or neither.
func PlaceBasket(ctx context.Context, client *ent.Client, pub *postbag.Publisher[postbag.SQLTx], o shop.Order) error {
	tx, err := client.Tx(ctx)
	if err != nil {
		return err
	}
	order, err := tx.Order.Create().SetCustomer(o.Customer).SetCents(o.Cents).Save(ctx)
	if err != nil {
		return errors.Join(err, tx.Rollback())
	}
	b := &basket{order: order}
	publishAtCommit(tx, pub, b)
	b.place()
	if err := tx.Commit(); err != nil { // a hook may have failed before the commit
		return errors.Join(err, tx.Rollback())
	}
	return nil
}
