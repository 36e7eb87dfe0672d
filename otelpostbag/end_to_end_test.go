package otelpostbag_test

import (
	"bytes"
	"context"
	"net/http/httptest"
	"net/netip"
	"slices"
	"strings"
	"testing"
	"time"

	commonpb "go.opentelemetry.io/proto/otlp/common/v1"
	metricspb "go.opentelemetry.io/proto/otlp/metrics/v1"
	tracepb "go.opentelemetry.io/proto/otlp/trace/v1"

	"github.com/postbag/postbag"
	"github.com/postbag/postbag/broker"
	"github.com/postbag/postbag/broker/webhook"
	"github.com/postbag/postbag/inbox"
	"github.com/postbag/postbag/otelpostbag"
	"github.com/postbag/postbag/relay"
	"github.com/postbag/postbag/store/memstore"
)

// fail ends a test at an error.
func fail(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func database(t *testing.T) *memstore.Store {
	t.Helper()
	s := memstore.New(memstore.Options{})
	fail(t, s.CreateBox(t.Context(), "outbox"))
	return s
}

// run runs until the test ends it with what it returns.
func run(t *testing.T, what func(context.Context) error) (end func()) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- what(ctx) }()
	return func() {
		t.Helper()
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	}
}

func TestOneTraceGoesFromTheTransactionOverTheNetworkToWhatTheHandlerPublishes(t *testing.T) {
	t.Parallel()
	c := collect(t)
	shop, shopTracers, endShop := c.service(t, "shop", otelpostbag.Options{MessageIDs: true})
	billing, billingTracers, endBilling := c.service(t, "billing", otelpostbag.Options{MessageIDs: true})

	// The service billing: an endpoint, and a consumer whose handler publishes.
	ledger := database(t)
	secret := webhook.NewSecret()
	hooks, err := webhook.NewSource(webhook.SourceOptions{Secrets: []string{secret}})
	fail(t, err)
	endpoint := httptest.NewServer(hooks)
	defer endpoint.Close()
	invoices, err := postbag.NewPublisher(ledger, billing.Publisher(postbag.PublisherOptions{}))
	fail(t, err)
	consumer, err := inbox.NewConsumer(inbox.ConsumerOptions[*memstore.Tx]{
		Store: ledger, Source: hooks, Consumer: "billing",
		Use: []inbox.Middleware[*memstore.Tx]{otelpostbag.Handler[*memstore.Tx](billing, otelpostbag.HandlerOptions{Consumer: "billing", System: "http"})},
		Handle: func(ctx context.Context, tx *memstore.Tx, m *inbox.Message) error {
			ctx, span := billingTracers.Tracer("billing").Start(ctx, "charge")
			defer span.End()
			return invoices.Publish(ctx, tx, postbag.Message{Topic: "invoices", Key: m.Key})
		},
	})
	fail(t, err)
	endConsumer := run(t, consumer.Run)

	// The service shop: it publishes in a transaction, and a relay sends.
	db := database(t)
	orders, err := postbag.NewPublisher(db, shop.Publisher(postbag.PublisherOptions{}))
	fail(t, err)
	to, err := webhook.New(webhook.Options{URL: endpoint.URL, Secrets: []string{secret}, AllowPrivate: []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}})
	fail(t, err)
	rel, err := relay.New(db, relay.Options{Subscriptions: []relay.Subscription{{To: to, Use: []broker.Middleware{shop.Relay}}}})
	fail(t, err)
	ctx, request := shopTracers.Tracer("shop").Start(t.Context(), "POST /orders")
	id := postbag.NewID()
	fail(t, orders.InTx(ctx, func(ctx context.Context, tx *memstore.Tx) error {
		return orders.Publish(ctx, tx, postbag.Message{ID: id, Topic: "orders", Key: "secret-key", Payload: []byte("secret-payload")})
	}))
	request.End()
	fail(t, rel.Drain(t.Context()))

	endConsumer()
	fail(t, to.Close(t.Context()))
	endShop()
	endBilling()

	if applied := consumer.Stats().Applied; applied != 1 {
		t.Fatalf("%d messages were applied, want 1", applied)
	}
	if len(c.repeats) > 0 {
		t.Errorf("these spans came twice: %v", c.repeats)
	}
	root := c.span(t, "shop: POST /orders")
	publish, send := c.span(t, "shop: publish outbox"), c.span(t, "shop: send orders")
	process, charge, next := c.span(t, "billing: process orders"), c.span(t, "billing: charge"), c.span(t, "billing: publish outbox")
	for child, parent := range map[*tracepb.Span]*tracepb.Span{publish: root, send: publish, process: publish, charge: process, next: charge} {
		if !bytes.Equal(child.GetTraceId(), root.GetTraceId()) || !bytes.Equal(child.GetParentSpanId(), parent.GetSpanId()) {
			t.Errorf("%q is not a child of %q", child.GetName(), parent.GetName())
		}
	}
	if links := send.GetLinks(); len(links) != 1 || !bytes.Equal(links[0].GetSpanId(), publish.GetSpanId()) || text(links[0].GetAttributes(), "messaging.message.id") != id.String() {
		t.Errorf("the call links to %v, want the span that published", links)
	}
	for span, want := range map[*tracepb.Span]tracepb.Span_SpanKind{
		publish: tracepb.Span_SPAN_KIND_PRODUCER, send: tracepb.Span_SPAN_KIND_CLIENT, process: tracepb.Span_SPAN_KIND_CONSUMER,
	} {
		if span.GetKind() != want || text(span.GetAttributes(), "messaging.message.id") != id.String() {
			t.Errorf("%q is of the kind %v with %v", span.GetName(), span.GetKind(), span.GetAttributes())
		}
	}
	for _, metric := range c.metrics {
		if got := metric.String(); strings.Contains(got, id.String()) || strings.Contains(got, "secret") || strings.Contains(got, "orders") {
			t.Errorf("a metric shows something of the message: %s", got)
		}
	}
	c.measured(t, "messaging.client.operation.duration", "messaging.client.sent.messages", "messaging.process.duration", "messaging.client.consumed.messages")
}

// measured checks that the metrics came, with no other attributes than these.
func (c *collector) measured(t *testing.T, names ...string) {
	t.Helper()
	known := []string{
		"messaging.system", "messaging.operation.name", "messaging.operation.type", "messaging.destination.name",
		"messaging.consumer.group.name", "postbag.box", "postbag.subscription", "postbag.outcome",
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	seen := map[string]bool{}
	for _, metric := range c.metrics {
		seen[metric.GetName()] = true
		for _, of := range attributesOf(metric) {
			for _, a := range of {
				if !slices.Contains(known, a.GetKey()) {
					t.Errorf("%s has an attribute %s", metric.GetName(), a.GetKey())
				}
			}
		}
	}
	for _, name := range names {
		if !seen[name] {
			t.Errorf("the metric %s did not come; these did: %v", name, keysOf(seen))
		}
	}
}

func attributesOf(m *metricspb.Metric) (all [][]*commonpb.KeyValue) {
	for _, p := range m.GetSum().GetDataPoints() {
		all = append(all, p.GetAttributes())
	}
	for _, p := range m.GetHistogram().GetDataPoints() {
		all = append(all, p.GetAttributes())
	}
	return all
}

func keysOf[V any](of map[string]V) []string {
	keys := make([]string, 0, len(of))
	for key := range of {
		keys = append(keys, key)
	}
	slices.Sort(keys)
	return keys
}

// A relay goes on as fast as before if nobody takes the spans.
func TestACollectorThatIsAwayChangesNothing(t *testing.T) {
	t.Parallel()
	c := collect(t)
	c.server.Close()
	tel, tracers, _ := c.service(t, "shop", otelpostbag.Options{})
	s := database(t)
	pub, err := postbag.NewPublisher(s, tel.Publisher(postbag.PublisherOptions{}))
	fail(t, err)
	to := recording(broker.Result{Outcome: broker.Accepted})
	rel, err := relay.New(s, relay.Options{Subscriptions: []relay.Subscription{{To: to, Use: []broker.Middleware{tel.Relay}}}})
	fail(t, err)
	for range 3000 { // more than the queue of spans holds
		fail(t, pub.InTx(t.Context(), func(ctx context.Context, tx *memstore.Tx) error {
			return pub.Publish(ctx, tx, postbag.Message{Topic: "t"})
		}))
	}
	fail(t, rel.Drain(t.Context()))
	if len(to.taken()) != 3000 {
		t.Errorf("%d messages were sent, want 3000", len(to.taken()))
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Second)
	defer cancel()
	_ = tracers.Shutdown(ctx) // it tells that nobody took them
}
