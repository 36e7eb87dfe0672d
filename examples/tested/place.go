package tested

import (
	"context"
	"errors"

	"github.com/postbag/postbag"
	"github.com/postbag/postbag/examples/internal/shop"
)

// Checkout is business code. It knows a Sender, and no database.
func Checkout(ctx context.Context, out postbag.Sender, o shop.Order) error {
	if o.Cents <= 0 {
		return errors.New("an order costs something")
	}
	return out.Publish(ctx, shop.Placed.Message(o))
}
