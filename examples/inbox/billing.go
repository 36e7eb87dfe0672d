package main

import (
	"context"

	"github.com/postbag/postbag"
	"github.com/postbag/postbag/broker/natsbroker"
	"github.com/postbag/postbag/examples/internal/shop"
	"github.com/postbag/postbag/inbox"
	"github.com/postbag/postbag/source"
	"github.com/postbag/postbag/store/sqlitestore"
)

// billing is the service that writes invoices.
type billing struct {
	store    *sqlitestore.Store
	consumer *inbox.Consumer[postbag.SQLTx]
}

// The box aside holds messages that could not be applied. See docs/guides/consume.md.
const aside = "aside"

func openBilling(ctx context.Context, path, url string) (*billing, error) {
	s, err := sqlitestore.Open(ctx, path, sqlitestore.Options{Create: true, Boxes: []string{aside}})
	if err != nil {
		return nil, err
	}
	err = s.InTx(ctx, func(ctx context.Context, tx postbag.SQLTx) error {
		_, err := tx.ExecContext(ctx, `create table if not exists invoices (id integer primary key, customer text not null, cents integer not null)`)
		return err
	})
	if err != nil {
		return nil, err
	}
	handle, err := inbox.NewRouter(inbox.RouterOptions[postbag.SQLTx]{}, inbox.On(shop.Placed, bill))
	if err != nil {
		return nil, err
	}
	from, err := natsbroker.OpenSource(ctx, natsbroker.SourceOptions{URL: url, Stream: "ORDERS", Consumer: "billing", Order: source.OrderStream})
	if err != nil {
		return nil, err
	}
	c, err := inbox.NewConsumer(inbox.ConsumerOptions[postbag.SQLTx]{
		Store: s, Source: from, Consumer: "billing", Handle: handle, Box: aside,
		Concurrency: 1, // SQLite has one writer at a time
	})
	return &billing{store: s, consumer: c}, err
}

// bill writes an invoice. It commits together with the mark of the message, so a message that
// comes again writes no second one.
func bill(ctx context.Context, tx postbag.SQLTx, o shop.Order) error {
	_, err := tx.ExecContext(ctx, `insert into invoices (customer, cents) values (?, ?)`, o.Customer, o.Cents)
	return err
}

// invoices returns how many there are, and their sum.
func (b *billing) invoices(ctx context.Context) (n, cents int, err error) {
	err = b.store.InTx(ctx, func(ctx context.Context, tx postbag.SQLTx) error {
		rows, err := tx.QueryContext(ctx, `select count(*), coalesce(sum(cents), 0) from invoices`)
		if err != nil {
			return err
		}
		defer func() { _ = rows.Close() }()
		for rows.Next() {
			if err := rows.Scan(&n, &cents); err != nil {
				return err
			}
		}
		return rows.Err()
	})
	return n, cents, err
}
