package webhook_test

import (
	"bytes"
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/netip"

	"github.com/postbag/postbag"
	"github.com/postbag/postbag/broker"
	"github.com/postbag/postbag/broker/webhook"
)

// A receiver reads the message, acts once per webhook-id, and answers with StatusOf.
func ExampleReceive() {
	secret := webhook.NewSecret()
	handle := func(m postbag.Message) error {
		fmt.Printf("%s for %s: %s\n", m.Type, m.Key, m.Payload)
		return nil
	}
	receiver := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		m, err := webhook.Receive(r, webhook.ReceiveOptions{Secrets: []string{secret}})
		if err == nil {
			err = handle(m)
		}
		w.WriteHeader(webhook.StatusOf(err))
	}))
	defer receiver.Close()

	to, err := webhook.New(webhook.Options{
		URL:          receiver.URL + "/in",
		Secrets:      []string{secret},
		AllowPrivate: []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer func() { _ = to.Close(context.Background()) }()

	msgs := []broker.Delivery{{Message: postbag.Message{
		ID: postbag.NewID(), Topic: "orders", Key: "customer-7", Type: "order.created", Payload: []byte(`{"order":7}`),
	}}}
	results := broker.Publish(context.Background(), to, msgs)
	fmt.Println(results[0].Outcome)
	// Output:
	// order.created for customer-7: {"order":7}
	// accepted
}

// A subscription to several kinds of endpoint decides by the message.
func ExampleOptions_uRLFor() {
	_, err := webhook.New(webhook.Options{
		Secrets: []string{webhook.NewSecret()},
		URLFor: func(m broker.Delivery) (string, error) {
			if !bytes.HasPrefix(m.Payload, []byte("{")) {
				return "", fmt.Errorf("topic %s holds a message that is no JSON object; send it elsewhere", m.Topic)
			}
			return "https://receiver.example/" + m.Topic, nil
		},
	})
	fmt.Println(err)
	// Output: <nil>
}
