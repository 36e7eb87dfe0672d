package inbox_test

import (
	"context"
	"fmt"

	"github.com/postbag/postbag"
	"github.com/postbag/postbag/inbox"
	"github.com/postbag/postbag/source"
	"github.com/postbag/postbag/source/memsource"
	"github.com/postbag/postbag/store/memstore"
)

// Handlers get the values of their events. What cannot be decoded, and what no handler is
// there for, is parked. Middleware sees every message first.
func ExampleNewRouter() {
	type Order struct {
		ID     string
		Amount int
	}
	orderCreated := postbag.Event[Order]{Type: "order.created", Key: func(o Order) string { return o.ID }}
	orderCancelled := postbag.Event[Order]{Type: "order.cancelled", Key: func(o Order) string { return o.ID }}

	handle, err := inbox.NewRouter(inbox.RouterOptions[*memstore.Tx]{},
		inbox.On(orderCreated, func(_ context.Context, _ *memstore.Tx, o Order) error {
			if o.Amount < 0 {
				return fmt.Errorf("%w: the amount is negative", inbox.ErrRejected) // nothing to try again
			}
			fmt.Println("charge", o.Amount, "for", o.ID) // with tx
			return nil
		}),
		inbox.On(orderCancelled, func(_ context.Context, _ *memstore.Tx, o Order) error {
			fmt.Println("pay back", o.ID) // with tx
			return nil
		}),
	)
	if err != nil {
		fmt.Println(err)
		return
	}
	tenantOf := func(next inbox.Handler[*memstore.Tx]) inbox.Handler[*memstore.Tx] {
		return func(ctx context.Context, tx *memstore.Tx, m *inbox.Message) error {
			fmt.Println("tenant", m.Headers["tenant"]) // perhaps into ctx
			return next(ctx, tx, m)
		}
	}

	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	db := memstore.New(memstore.Options{}) // or a store on your database
	if err := db.CreateBox(ctx, "aside"); err != nil {
		fmt.Println(err)
	}
	orders := memsource.New(memsource.Options{}) // or natsbroker.OpenSource, kafkabroker.OpenSource
	c, err := inbox.NewConsumer(inbox.ConsumerOptions[*memstore.Tx]{
		Store: db, Source: orders.Join("billing"), Consumer: "billing", Box: "aside",
		Handle: handle, Use: []inbox.Middleware[*memstore.Tx]{tenantOf},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	arrive := func(id, typ, payload string) source.Message {
		return source.Message{Key: "17", MessageID: id, Payload: []byte(payload), Headers: source.Headers{
			{Name: "Postbag-Type", Value: typ}, {Name: "tenant", Value: "acme"},
		}}
	}
	if err := orders.Publish(arrive("1", "order.created", `{"ID":"17","Amount":3}`), arrive("2", "order.cancelled", `{"ID":"17"}`)); err != nil {
		fmt.Println(err)
	}
	go func() {
		_ = orders.WaitUntilAcked(ctx, "billing") // or until your program ends
		cancel()
	}()
	fmt.Println(c.Run(ctx))
	// Output:
	// tenant acme
	// charge 3 for 17
	// tenant acme
	// pay back 17
	// <nil>
}
