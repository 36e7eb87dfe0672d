package gormtx

import (
	"context"

	"gorm.io/gorm"

	"github.com/postbag/postbag"
	"github.com/postbag/postbag/examples/internal/shop"
	"github.com/postbag/postbag/gormpostbag"
)

// Order is GORM's model of an order.
type Order struct {
	ID       int64
	Customer string
	Cents    int
}

// Place saves an order and publishes its message; both or neither.
func Place(ctx context.Context, db *gorm.DB, pub *postbag.Publisher[postbag.SQLTx], o shop.Order) error {
	return db.WithContext(ctx).Transaction(func(tx *gorm.DB) error {
		if err := tx.Create(&Order{Customer: o.Customer, Cents: o.Cents}).Error; err != nil {
			return err
		}
		t, err := gormpostbag.Tx(tx)
		if err != nil {
			return err
		}
		return pub.Publish(ctx, t, shop.Placed.Message(o))
	})
}
