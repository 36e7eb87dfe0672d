package main

import (
	"context"

	"github.com/postbag/postbag"
	"github.com/postbag/postbag/broker/natsbroker"
	"github.com/postbag/postbag/examples/internal/shop"
	"github.com/postbag/postbag/relay"
	"github.com/postbag/postbag/store/sqlitestore"
)

// orders is the service that takes orders.
type orders struct {
	store     *sqlitestore.Store
	publisher *postbag.Publisher[postbag.SQLTx]
	to        *natsbroker.Destination
}

func openOrders(ctx context.Context, path, url string) (*orders, error) {
	s, err := sqlitestore.Open(ctx, path, sqlitestore.Options{Create: true})
	if err != nil {
		return nil, err
	}
	o := &orders{store: s}
	if o.publisher, err = postbag.NewPublisher(s, postbag.PublisherOptions{}); err != nil {
		return nil, err
	}
	if o.to, err = natsbroker.Dial(ctx, url, natsbroker.Options{}); err != nil {
		return nil, err
	}
	return o, o.publisher.InTx(ctx, func(ctx context.Context, tx postbag.SQLTx) error {
		_, err := tx.ExecContext(ctx, `create table orders (id integer primary key, customer text not null, cents integer not null)`)
		return err
	})
}

// place saves an order and its message: both, or neither.
func (o *orders) place(ctx context.Context, order shop.Order) error {
	return o.publisher.InTx(ctx, func(ctx context.Context, tx postbag.SQLTx) error {
		if _, err := tx.ExecContext(ctx, `insert into orders (customer, cents) values (?, ?)`, order.Customer, order.Cents); err != nil {
			return err
		}
		return o.publisher.Publish(ctx, tx, shop.Placed.Message(order))
	})
}

// relay delivers the messages until ctx ends.
func (o *orders) relay(ctx context.Context) error {
	r, err := relay.New(o.store, relay.Options{Subscriptions: []relay.Subscription{{To: o.to}}})
	if err != nil {
		return err
	}
	return r.Run(ctx)
}
