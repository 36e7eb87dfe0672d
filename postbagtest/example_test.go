package postbagtest_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"github.com/postbag/postbag"
	"github.com/postbag/postbag/postbagtest"
)

// t stands for the *testing.T of a test.
var t = printing{}

type printing struct{}

func (printing) Helper() {}

func (printing) Fatalf(format string, args ...any) { fmt.Println(fmt.Sprintf(format, args...)) }

// placeOrder is business code under test. It knows a Sender and nothing else.
func placeOrder(ctx context.Context, out postbag.Sender, o order) error {
	if o.Cents <= 0 {
		return errors.New("an order costs something")
	}
	return out.Publish(ctx, orderCreated.Message(o))
}

func Example() {
	var rec postbagtest.Recorder[postbagtest.Tx]
	out := rec.Sender(t, postbag.PublisherOptions{})

	_ = placeOrder(context.Background(), out, order{ID: "o-1", Cents: 995})
	_ = placeOrder(context.Background(), out, order{ID: "o-2"})

	rec.RequirePublished(t, postbagtest.Event(orderCreated, order{ID: "o-1", Cents: 995}))
	rec.RequirePublished(t, postbagtest.Want{Type: "order.created", Key: "o-2"})
	// Output:
	// postbagtest: published 1, wanted 1:
	// 0. box "outbox", type "order.created", topic "outbox", key "o-1"
	//    key is "o-1", want "o-2"
}

// Shop is a service with a publisher of its own.
type Shop struct {
	pub *postbag.Publisher[*sql.Tx]
}

func (s Shop) Buy(ctx context.Context, o order, stock int) error {
	return s.pub.InTx(ctx, func(ctx context.Context, tx *sql.Tx) error {
		if err := placeOrder(ctx, s.pub.Bind(tx), o); err != nil {
			return err
		}
		if stock == 0 {
			return errors.New("sold out")
		}
		return nil
	})
}

func ExampleRecorder_InTx() {
	rec := &postbagtest.Recorder[*sql.Tx]{}
	pub, err := postbag.NewPublisher(rec, postbag.PublisherOptions{})
	if err != nil {
		fmt.Println(err)
		return
	}
	shop := Shop{pub: pub}

	fmt.Println(shop.Buy(context.Background(), order{ID: "o-1", Cents: 995}, 0))
	rec.RequireNothing(t)

	fmt.Println(shop.Buy(context.Background(), order{ID: "o-1", Cents: 995}, 7))
	rec.RequireIncluded(t, postbagtest.Want{Type: "order.created", Key: "o-1"})
	fmt.Println(postbagtest.Values(t, rec, orderCreated))
	// Output:
	// sold out
	// <nil>
	// [{o-1 995}]
}
