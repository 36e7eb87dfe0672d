package postbag_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/postbag/postbag"
)

// Tx is a transaction of ledger, in the place of pgx.Tx or *sql.Tx.
type Tx struct{ written []postbag.Message }

// ledger is a store that prints what commits.
type ledger struct{}

func (ledger) Append(_ context.Context, tx *Tx, _ string, msgs []postbag.Message) error {
	for _, m := range msgs {
		tx.written = append(tx.written, m.Clone())
	}
	return nil
}

func (ledger) Lock(_ context.Context, _ *Tx, _ string, keys []string) error {
	fmt.Println("locked", keys)
	return nil
}

func (ledger) Cancel(_ context.Context, tx *Tx, _ string, id postbag.ID) (bool, error) {
	for i, m := range tx.written {
		if m.ID == id {
			tx.written = append(tx.written[:i], tx.written[i+1:]...)
			return true, nil
		}
	}
	return false, nil
}

func (ledger) InTx(ctx context.Context, fn func(context.Context, *Tx) error) error {
	tx := &Tx{}
	if err := fn(ctx, tx); err != nil {
		fmt.Println("rolled back")
		return err
	}
	for _, m := range tx.written {
		fmt.Printf("committed %s %s %q %s\n", m.Topic, m.Type, m.Key, m.Payload)
	}
	return nil
}

func (ledger) Wake(box string) { fmt.Println("woke the relay of", box) }

type Order struct {
	ID    string `json:"id"`
	Cents int    `json:"cents"`
}

// OrderCreated is shared by those who publish it and those who handle it.
var OrderCreated = postbag.Event[Order]{
	Type: "order.created",
	Key:  func(o Order) string { return o.ID },
}

func newPublisher(o postbag.PublisherOptions) *postbag.Publisher[*Tx] {
	pub, err := postbag.NewPublisher(ledger{}, o)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	return pub
}

func Example() {
	pub := newPublisher(postbag.PublisherOptions{})
	err := pub.InTx(context.Background(), func(ctx context.Context, tx *Tx) error {
		// Write the order's row here, in the same tx.
		return pub.Publish(ctx, tx, OrderCreated.Message(Order{ID: "o-1", Cents: 995}))
	})
	fmt.Println(err)
	// Output:
	// committed outbox order.created "o-1" {"id":"o-1","cents":995}
	// woke the relay of outbox
	// <nil>
}

func ExamplePublisher_InTx_rollback() {
	pub := newPublisher(postbag.PublisherOptions{})
	err := pub.InTx(context.Background(), func(ctx context.Context, tx *Tx) error {
		if err := pub.Publish(ctx, tx, OrderCreated.Message(Order{ID: "o-1"})); err != nil {
			return err
		}
		return errors.New("no stock")
	})
	fmt.Println(err)
	// Output:
	// rolled back
	// no stock
}

func ExamplePublisher_Bind() {
	// PlaceOrder is business code: it knows neither the store nor its Tx.
	placeOrder := func(ctx context.Context, out postbag.Sender, o Order) error {
		return out.Publish(ctx, OrderCreated.Message(o))
	}

	pub := newPublisher(postbag.PublisherOptions{Box: "events"})
	err := pub.InTx(context.Background(), func(ctx context.Context, tx *Tx) error {
		return placeOrder(ctx, pub.Bind(tx), Order{ID: "o-2"})
	})
	fmt.Println(err)
	// Output:
	// committed events order.created "o-2" {"id":"o-2","cents":0}
	// woke the relay of events
	// <nil>
}

func ExamplePublisher_PublishOrdered() {
	pub := newPublisher(postbag.PublisherOptions{})
	err := pub.InTx(context.Background(), func(ctx context.Context, tx *Tx) error {
		return pub.PublishOrdered(
			ctx, tx,
			postbag.Message{Topic: "stock", Key: "bolt", Payload: []byte("-2")},
			postbag.Message{Topic: "stock", Key: "anchor", Payload: []byte("-1")},
			postbag.Message{Topic: "stock", Key: "bolt", Payload: []byte("-3")},
		)
	})
	fmt.Println(err)
	// Output:
	// locked [anchor bolt]
	// committed stock  "bolt" -2
	// committed stock  "anchor" -1
	// committed stock  "bolt" -3
	// woke the relay of outbox
	// <nil>
}

func ExamplePublisher_Cancel() {
	pub := newPublisher(postbag.PublisherOptions{})
	reminder := postbag.Message{
		ID:        postbag.NewID(), // keep it with the order, to cancel by
		Type:      "order.reminder",
		NotBefore: time.Now().Add(48 * time.Hour),
	}
	err := pub.InTx(context.Background(), func(ctx context.Context, tx *Tx) error {
		if err := pub.Publish(ctx, tx, reminder); err != nil {
			return err
		}
		canceled, err := pub.Cancel(ctx, tx, reminder.ID)
		fmt.Println("canceled:", canceled)
		return err
	})
	fmt.Println(err)
	// Output:
	// canceled: true
	// woke the relay of outbox
	// <nil>
}

func ExampleMessageError() {
	pub := newPublisher(postbag.PublisherOptions{MaxSize: 10})
	err := pub.Publish(
		context.Background(), &Tx{},
		postbag.Message{Payload: []byte("more than ten bytes")},
		postbag.Message{Headers: map[string]string{"Postbag-Id": "mine"}},
	)
	fmt.Println(err)
	if fault, ok := errors.AsType[*postbag.MessageError](err); ok {
		fmt.Println(fault.Index, fault.Field, fault.Got, fault.Allowed)
	}
	// Output:
	// postbag: message 0: Payload holds 19 bytes, 10 allowed; send a reference to it, or raise PublisherOptions.MaxSize
	// postbag: message 1: Headers["Postbag-Id"] begins with Postbag-, which relays use; choose another name
	// 0 Payload 19 10
}

func ExamplePublisherOptions_wrap() {
	count := 0 // state belongs outside of Wrap
	pub := newPublisher(postbag.PublisherOptions{
		Wrap: func(next postbag.PublishFunc) postbag.PublishFunc {
			return func(ctx context.Context, msgs []postbag.Message) error {
				err := next(ctx, msgs)
				if err == nil {
					count += len(msgs)
				}
				return err
			}
		},
	})
	_ = pub.Publish(context.Background(), &Tx{}, postbag.Message{}, postbag.Message{})
	_ = pub.Publish(context.Background(), &Tx{}, postbag.Message{Key: "\xff"})
	fmt.Println("published", count)
	// Output: published 2
}

func ExampleEvent_Decode() {
	m := OrderCreated.Message(Order{ID: "o-1", Cents: 995})
	o, err := OrderCreated.Decode(m)
	fmt.Println(o.Cents, err)

	_, err = OrderCreated.Decode(postbag.Message{Type: "order.shipped"})
	fmt.Println(errors.Is(err, postbag.ErrEventType))
	// Output:
	// 995 <nil>
	// true
}

func ExampleParseID() {
	id, err := postbag.ParseID("017F22E2-79B0-7CC3-98C4-DC0C0C07398F")
	fmt.Println(id, id.Time(), err)
	_, err = postbag.ParseID("order 17")
	fmt.Println(err)
	// Output:
	// 017f22e2-79b0-7cc3-98c4-dc0c0c07398f 2022-02-22 19:22:22 +0000 UTC <nil>
	// postbag: parse id: it has 8 characters, not 36 (or 32 without hyphens); write it as 01234567-89ab-7cde-8f01-23456789abcd
}

func ExampleValidBox() {
	fmt.Println(postbag.ValidBox("order_events"))
	fmt.Println(postbag.ValidBox("order"))
	// Output:
	// <nil>
	// postbag: box name "order" is reserved; choose another, such as "outbox"
}
