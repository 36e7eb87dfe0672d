package inbox_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/postbag/postbag"
	"github.com/postbag/postbag/inbox"
	"github.com/postbag/postbag/relay"
	"github.com/postbag/postbag/source"
	"github.com/postbag/postbag/source/memsource"
	"github.com/postbag/postbag/store"
	"github.com/postbag/postbag/store/memstore"
)

// A broker delivers a message twice, and the consumer applies it once.
func Example() {
	ctx := context.Background()
	db := memstore.New(memstore.Options{}) // or a store on your database
	in, err := inbox.New(db)
	if err != nil {
		fmt.Println(err)
		return
	}
	handle := func(id, body string) error {
		return db.InTx(ctx, func(ctx context.Context, tx *memstore.Tx) error {
			fresh, err := in.Once(ctx, tx, "billing", inbox.MessageID(id))
			if err != nil || !fresh {
				return err
			}
			fmt.Println("apply", body) // with tx
			return nil
		})
	}
	for _, body := range []string{"first delivery", "second delivery"} {
		if err := handle("order-17", body); err != nil {
			fmt.Println(err) // do not acknowledge
		}
	}
	// Output: apply first delivery
}

// The id is known, and the bytes are others.
func ExampleInbox_OnceBytes() {
	ctx := context.Background()
	db := memstore.New(memstore.Options{})
	in, _ := inbox.New(db)
	for _, body := range []string{"3 apples", "3 apples", "4 apples"} {
		err := db.InTx(ctx, func(ctx context.Context, tx *memstore.Tx) error {
			fresh, err := in.OnceBytes(ctx, tx, "billing", "order-17", []byte(body))
			if err == nil {
				fmt.Println(body, fresh)
			}
			return err
		})
		if errors.Is(err, store.ErrOtherBytes) {
			fmt.Println(body, "has the id of another message")
		}
	}
	// Output:
	// 3 apples true
	// 3 apples false
	// 4 apples has the id of another message
}

// A batch of a log whose messages have no ids.
func ExampleInbox_OnceBatch() {
	ctx := context.Background()
	db := memstore.New(memstore.Options{})
	in, _ := inbox.New(db)
	for _, offsets := range [][]int64{{40, 41}, {41, 42}} {
		err := db.InTx(ctx, func(ctx context.Context, tx *memstore.Tx) error {
			var marks []inbox.Mark
			for _, offset := range offsets {
				marks = append(marks, inbox.Mark{ID: inbox.Place("orders", 3, offset)})
			}
			fresh, err := in.OnceBatch(ctx, tx, "billing", marks)
			fmt.Println(offsets, fresh)
			return err
		})
		if err != nil {
			fmt.Println(err)
		}
	}
	// Output:
	// [40 41] [true true]
	// [41 42] [false true]
}

// A consumer changes its data and publishes, in one transaction with the mark of the message.
func ExampleConsumer() {
	ctx, cancel := context.WithCancel(context.Background())
	db := memstore.New(memstore.Options{}) // or a store on your database
	if err := db.CreateBox(ctx, "outbox"); err != nil {
		fmt.Println(err)
	}
	orders := memsource.New(memsource.Options{}) // or natsbroker.OpenSource, kafkabroker.OpenSource
	invoices, _ := postbag.NewPublisher(db, postbag.PublisherOptions{})
	c, err := inbox.NewConsumer(inbox.ConsumerOptions[*memstore.Tx]{
		Store: db, Source: orders.Join("billing"), Consumer: "billing",
		Handle: func(ctx context.Context, tx *memstore.Tx, m *inbox.Message) error {
			fmt.Printf("charge %s for %s\n", m.Key, m.Payload) // with tx
			return invoices.Publish(ctx, tx, postbag.Message{Topic: "invoices", Key: m.Key, Payload: m.Payload})
		},
	})
	if err != nil {
		fmt.Println(err)
		cancel()
		return
	}
	order := source.Message{Key: "ann", MessageID: "order-17", Payload: []byte("3 apples")}
	if err := orders.Publish(order, order); err != nil { // its sender was not sure
		fmt.Println(err)
	}
	go func() {
		_ = orders.WaitUntilAcked(ctx, "billing") // or until your program ends
		cancel()
	}()
	fmt.Println(c.Run(ctx))
	// Output:
	// charge ann for 3 apples
	// <nil>
}

// A relay works a box with a handler. The box may be in another database than the handler's.
func ExampleDestination() {
	ctx, cancel := context.WithCancel(context.Background())
	box, billing := memstore.New(memstore.Options{}), memstore.New(memstore.Options{}) // or stores on your databases
	if err := box.CreateBox(ctx, "inbox"); err != nil {
		fmt.Println(err)
	}
	charge, err := inbox.NewDestination(inbox.DestinationOptions[*memstore.Tx]{
		Store: billing, Consumer: "billing",
		Handle: func(_ context.Context, _ *memstore.Tx, m *inbox.Message) error {
			fmt.Printf("charge %s for %s\n", m.Key, m.Payload) // with the transaction
			cancel()                                           // a handler at work may end
			return nil
		},
	})
	if err != nil {
		fmt.Println(err)
	}
	orders, _ := postbag.NewPublisher(box, postbag.PublisherOptions{Box: "inbox"}) // or an inbox.Receiver
	err = orders.InTx(ctx, func(ctx context.Context, tx *memstore.Tx) error {
		return orders.Publish(ctx, tx, postbag.Message{Topic: "orders", Key: "ann", Payload: []byte("3 apples")})
	})
	if err != nil {
		fmt.Println(err)
	}
	r, err := relay.New(box, relay.Options{
		Subscriptions: []relay.Subscription{{Box: "inbox", To: charge}}, Logger: slog.New(slog.DiscardHandler),
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(r.Run(ctx), r.Stats().Subscriptions[0].Delivered) // until your program ends
	// Output:
	// charge ann for 3 apples
	// <nil> 1
}

// Marks are kept for a week, and removed after that.
func ExampleInbox_Maintain() {
	ctx, cancel := context.WithCancel(context.Background())
	in, _ := inbox.New(memstore.New(memstore.Options{}))
	if err := in.Declare(ctx, "billing", 7*24*time.Hour); err != nil {
		fmt.Println(err)
	}
	done := make(chan error)
	go func() { done <- in.Maintain(ctx, time.Hour, func(err error) { fmt.Println(err) }) }()
	cancel() // when the program ends
	fmt.Println(<-done)
	// Output: <nil>
}
