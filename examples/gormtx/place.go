package gormtx

import (
	"context"
	"fmt"

	"gorm.io/gorm"

	"github.com/postbag/postbag"
	"github.com/postbag/postbag/examples/internal/shop"
)

// Order is GORM's model of an order.
type Order struct {
	ID       int64
	Customer string
	Cents    int
}

// Tx returns the transaction that GORM keeps inside tx. Outside a transaction it
// is an error, and never a write that nothing rolls back. With PrepareStmt it is
// the one below GORM's, which would prepare each statement and keep it, and one of
// Postbag's may have the message in it.
func Tx(tx *gorm.DB) (postbag.SQLTx, error) {
	pool := tx.Statement.ConnPool
	if prepared, ok := pool.(*gorm.PreparedStmtTX); ok {
		pool = prepared.Tx
	}
	if t, ok := pool.(postbag.SQLTx); ok {
		return t, nil
	}
	return nil, fmt.Errorf("gorm: %T is no transaction; publish inside db.Transaction", pool)
}

// Place saves an order and publishes its message; both or neither.
func Place(ctx context.Context, db *gorm.DB, pub *postbag.Publisher[postbag.SQLTx], o shop.Order) error {
	return db.WithContext(ctx).Transaction(func(tx *gorm.DB) error {
		if err := tx.Create(&Order{Customer: o.Customer, Cents: o.Cents}).Error; err != nil {
			return err
		}
		t, err := Tx(tx)
		if err != nil {
			return err
		}
		return pub.Publish(ctx, t, shop.Placed.Message(o))
	})
}
