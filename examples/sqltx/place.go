package sqltx

import (
	"context"
	"database/sql"
	"errors"

	"github.com/postbag/postbag"
	"github.com/postbag/postbag/examples/internal/shop"
)

// Place saves an order and publishes its message; both or neither. It says so when the
// message is there: an appender that was opened with AppenderOptions.Wake wakes the relay
// of this process, which looks by itself after some time otherwise.
func Place(ctx context.Context, db *sql.DB, pub *postbag.Publisher[postbag.SQLTx], o shop.Order) error {
	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	_, err = tx.ExecContext(ctx, `insert into orders (customer, cents) values ($1, $2)`, o.Customer, o.Cents)
	if err == nil {
		err = pub.Publish(ctx, tx, shop.Placed.Message(o))
	}
	if err != nil {
		return errors.Join(err, tx.Rollback())
	}
	if err := tx.Commit(); err != nil {
		return err
	}
	pub.Committed()
	return nil
}
