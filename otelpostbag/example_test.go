package otelpostbag_test

import (
	"context"
	"fmt"
	"log/slog"

	"go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"

	"github.com/postbag/postbag"
	"github.com/postbag/postbag/broker"
	"github.com/postbag/postbag/inbox"
	"github.com/postbag/postbag/otelpostbag"
	"github.com/postbag/postbag/relay"
	"github.com/postbag/postbag/store/memstore"
)

// A message is published in a request, and a handler applies it. All spans are of one trace.
func Example() {
	ctx := context.Background()
	spans := tracetest.NewInMemoryExporter() // or otlptracehttp.New(ctx)
	tracers := trace.NewTracerProvider(trace.WithBatcher(spans))
	tel, err := otelpostbag.New(otelpostbag.Options{TracerProvider: tracers})
	check(err)

	db := memstore.New(memstore.Options{}) // or a store on your database
	check(db.CreateBox(ctx, "outbox"))     // or Options.Boxes of the store
	pub, err := postbag.NewPublisher(db, tel.Publisher(postbag.PublisherOptions{}))
	check(err)
	ship, err := inbox.NewDestination(inbox.DestinationOptions[*memstore.Tx]{
		Store: db, Consumer: "shipping",
		Use:    []inbox.Middleware[*memstore.Tx]{otelpostbag.Handler[*memstore.Tx](tel, otelpostbag.HandlerOptions{Consumer: "shipping"})},
		Handle: func(context.Context, *memstore.Tx, *inbox.Message) error { return nil },
	})
	check(err)
	rel, err := relay.New(db, relay.Options{
		Subscriptions: []relay.Subscription{{To: ship, Use: []broker.Middleware{tel.Relay}}},
		Logger:        slog.New(slog.DiscardHandler),
	})
	check(err)

	ctx, request := tracers.Tracer("shop").Start(ctx, "POST /orders")
	check(pub.InTx(ctx, func(ctx context.Context, tx *memstore.Tx) error {
		return pub.Publish(ctx, tx, postbag.Message{Topic: "orders", Key: "customer-7"})
	}))
	request.End()
	check(rel.Drain(context.Background()))
	check(tracers.ForceFlush(context.Background()))

	names := map[string]string{}
	for _, s := range spans.GetSpans() {
		names[s.SpanContext.SpanID().String()] = s.Name
	}
	for _, s := range spans.GetSpans() {
		fmt.Printf("%s (%s), below %q, of the request's trace: %v\n", s.Name, s.SpanKind,
			names[s.Parent.SpanID().String()], s.SpanContext.TraceID() == request.SpanContext().TraceID())
	}
	// Unordered output:
	// POST /orders (internal), below "", of the request's trace: true
	// publish outbox (producer), below "POST /orders", of the request's trace: true
	// send orders (client), below "publish outbox", of the request's trace: true
	// process orders (consumer), below "send orders", of the request's trace: true
}

func check(err error) {
	if err != nil {
		panic(err)
	}
}
