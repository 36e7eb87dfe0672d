package webhook

import (
	"context"
	"crypto/x509"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"os"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/postbag/postbag"
	"github.com/postbag/postbag/broker"
)

const (
	secretA = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
	secretB = "whsec_AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8="

	patience = 20 * time.Second
)

// loopback is what tests must allow to reach their own servers.
func loopback() []netip.Prefix {
	return []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8"), netip.MustParsePrefix("::1/128")}
}

// TestMain fails when connections or requests are left after all tests closed
// what they opened.
func TestMain(m *testing.M) {
	code := m.Run()
	if left := leftovers(); code == 0 && left != "" {
		fmt.Fprintf(os.Stderr, "goroutines are left:\n%s\n", left)
		code = 1
	}
	os.Exit(code)
}

func leftovers() string {
	deadline := time.NewTimer(5 * time.Second)
	defer deadline.Stop()
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for {
		stacks := make([]byte, 1<<20)
		stacks = stacks[:runtime.Stack(stacks, true)]
		var left []string
		for stack := range strings.SplitSeq(string(stacks), "\n\n") {
			if strings.Contains(stack, "net/http.") || strings.Contains(stack, "broker/webhook.(") {
				left = append(left, stack)
			}
		}
		if len(left) == 0 {
			return ""
		}
		select {
		case <-deadline.C:
			return strings.Join(left, "\n\n")
		case <-tick.C:
		}
	}
}

// receiver is an endpoint that reads messages with Receive and keeps them.
type receiver struct {
	*httptest.Server

	mu       sync.Mutex
	requests []*http.Request
	messages []postbag.Message
	faults   []error
}

// answer, if not nil, is called in place of answering 204.
func newReceiver(answer http.HandlerFunc) *receiver {
	r := &receiver{}
	r.Server = httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		m, err := Receive(req, ReceiveOptions{Secrets: []string{secretA}})
		r.mu.Lock()
		r.requests = append(r.requests, req)
		r.messages = append(r.messages, m)
		if err != nil {
			r.faults = append(r.faults, err)
		}
		r.mu.Unlock()
		switch {
		case err != nil:
			w.WriteHeader(StatusOf(err))
		case answer != nil:
			answer(w, req)
		default:
			w.WriteHeader(http.StatusNoContent)
		}
	}))
	return r
}

// plain starts a receiver over http.
func plain(t *testing.T, answer http.HandlerFunc) *receiver {
	t.Helper()
	r := newReceiver(answer)
	r.Start()
	t.Cleanup(r.Close)
	return r
}

// secure starts a receiver over https, with HTTP/2 if asked.
func secure(t *testing.T, h2 bool, answer http.HandlerFunc) *receiver {
	t.Helper()
	r := newReceiver(answer)
	r.EnableHTTP2 = h2
	r.StartTLS()
	t.Cleanup(r.Close)
	return r
}

// got returns what arrived so far, and fails for what did not verify.
func (r *receiver) got(t *testing.T) []postbag.Message {
	t.Helper()
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, err := range r.faults {
		t.Errorf("Receive: %v", err)
	}
	return append([]postbag.Message(nil), r.messages...)
}

func (r *receiver) request(i int) *http.Request {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.requests[i]
}

func (r *receiver) roots() *x509.CertPool {
	pool := x509.NewCertPool()
	pool.AddCert(r.Certificate())
	return pool
}

// options reach url on this machine.
func options(url string) Options {
	return Options{URL: url, Secrets: []string{secretA}, AllowPrivate: loopback()}
}

// open makes a destination and closes it with the test.
func open(t testing.TB, o Options) *Destination {
	t.Helper()
	d, err := New(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), patience)
		defer cancel()
		if err := d.Close(ctx); err != nil {
			t.Errorf("Close: %v", err)
		}
	})
	return d
}

// sample is a message with everything.
func sample() broker.Delivery {
	return broker.Delivery{
		Message: postbag.Message{
			ID:      postbag.NewID(),
			Topic:   "orders",
			Key:     "customer 7 / grün",
			Type:    "order.created",
			Headers: map[string]string{"traceparent": "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01", "tenant": "grün"},
			Payload: []byte(`{"order": 7}`),
		},
		Box: "outbox", Subscription: "default", Seq: 7, Attempt: 1,
		At: time.Date(2026, 3, 1, 12, 0, 0, 123456000, time.UTC),
	}
}

// publish sends one message.
func publish(ctx context.Context, d *Destination, m broker.Delivery) broker.Result {
	results := broker.Publish(ctx, d, []broker.Delivery{m})
	return results[0]
}

// want fails unless r is outcome, with an error exactly if it is not Accepted.
func want(t *testing.T, r broker.Result, outcome broker.Outcome) {
	t.Helper()
	if r.Outcome != outcome {
		t.Fatalf("outcome is %v (%v), want %v", r.Outcome, r.Err, outcome)
	}
	if (r.Err == nil) != (outcome == broker.Accepted) {
		t.Fatalf("outcome %v comes with error %v", r.Outcome, r.Err)
	}
}
