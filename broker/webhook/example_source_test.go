package webhook_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/netip"

	"github.com/postbag/postbag"
	"github.com/postbag/postbag/broker"
	"github.com/postbag/postbag/broker/webhook"
	"github.com/postbag/postbag/inbox"
	"github.com/postbag/postbag/store/memstore"
)

// An endpoint stores what comes in a box, and answers when that is committed. It ends without a request that has no answer.
func ExampleSource() {
	ctx := context.Background()
	secret := webhook.NewSecret()          // or the one that the sender gave you
	db := memstore.New(memstore.Options{}) // or a store on your database
	fail(db.CreateBox(ctx, "inbox"))       // or Options.Boxes of the store
	hooks, err := webhook.NewSource(webhook.SourceOptions{
		Secrets: []string{secret},
		Topic:   webhook.FromPath("sender"),
	})
	fail(err)
	receiver, err := inbox.NewReceiver(inbox.ReceiverOptions[*memstore.Tx]{Store: db, Source: hooks})
	fail(err)
	running, stop := context.WithCancel(ctx)
	ended := make(chan error)
	go func() { ended <- receiver.Run(running) }()

	mux := http.NewServeMux()
	mux.Handle("/hooks/{sender}", hooks)
	server := httptest.NewServer(mux) // or an http.Server with time-outs, behind TLS

	deliverTwice(ctx, server.URL+"/hooks/shop", secret)

	fail(server.Config.Shutdown(ctx)) // first: requests in hand get their answers
	stop()
	fail(<-ended)
	fail(hooks.Close(ctx))
	stats := receiver.Stats()
	fmt.Printf("%d came, %d is stored\n", stats.Fetched, stats.Stored)
	// Output:
	// accepted
	// accepted
	// 2 came, 1 is stored
}

// deliverTwice sends one message two times, as a relay does that had no answer.
func deliverTwice(ctx context.Context, url, secret string) {
	to, err := webhook.New(webhook.Options{
		URL: url, Secrets: []string{secret}, AllowPrivate: []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")},
	})
	fail(err)
	msg := broker.Delivery{Message: postbag.Message{ID: postbag.NewID(), Topic: "orders", Key: "customer-7", Payload: []byte(`{"order":7}`)}}
	for range 2 {
		fmt.Println(broker.Publish(ctx, to, []broker.Delivery{msg})[0].Outcome)
	}
	fail(to.Close(ctx))
}

func fail(err error) {
	if err != nil {
		panic(err)
	}
}
