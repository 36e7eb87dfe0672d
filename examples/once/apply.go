package once

import (
	"context"
	"database/sql"
	"errors"

	"github.com/postbag/postbag"
	"github.com/postbag/postbag/examples/internal/shop"
	"github.com/postbag/postbag/inbox"
)

// Apply books an order's message on its customer, once however often the message comes.
// It is called for each message that a consumer receives. When it returns nil, acknowledge
// the message. When it returns an error, do not.
func Apply(ctx context.Context, db *sql.DB, in *inbox.Inbox[postbag.SQLTx], m postbag.Message) error {
	order, err := shop.Placed.Decode(m)
	if err != nil {
		return err
	}
	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	if err := book(ctx, tx, in, m, order); err != nil {
		return errors.Join(err, tx.Rollback())
	}
	return tx.Commit()
}

// book is the part inside the transaction: first the mark, then the effect.
func book(ctx context.Context, tx *sql.Tx, in *inbox.Inbox[postbag.SQLTx], m postbag.Message, order shop.Order) error {
	fresh, err := in.OnceBytes(ctx, tx, "billing", inbox.UUID(m.ID), m.Payload)
	if err != nil || !fresh {
		return err
	}
	_, err = tx.ExecContext(ctx, `update customers set orders = orders + 1 where name = $1`, order.Customer)
	return err
}
