package otelpostbag_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/baggage"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/trace"

	"github.com/postbag/postbag"
	"github.com/postbag/postbag/broker"
	"github.com/postbag/postbag/inbox"
	"github.com/postbag/postbag/otelpostbag"
	"github.com/postbag/postbag/relay"
	"github.com/postbag/postbag/source"
	"github.com/postbag/postbag/source/memsource"
	"github.com/postbag/postbag/store/memstore"
)

// handle gives a message to a traced handler.
func handle(ctx context.Context, r *recorder, o otelpostbag.HandlerOptions, headers map[string]string, with func(context.Context) error) error {
	traced := otelpostbag.Handler[int](r.tel, o)(func(ctx context.Context, _ int, _ *inbox.Message) error { return with(ctx) })
	return traced(ctx, 0, &inbox.Message{Message: postbag.Message{ID: postbag.NewID(), Topic: "orders", Headers: headers}, Attempt: 2})
}

func nothing(context.Context) error { return nil }

func TestAHandlerContinuesTheTraceOfItsMessage(t *testing.T) {
	t.Parallel()
	r := record(t, otelpostbag.Options{})
	fail(t, handle(t.Context(), r, otelpostbag.HandlerOptions{Consumer: "billing"}, map[string]string{"Traceparent": other}, func(ctx context.Context) error {
		if got := trace.SpanContextFromContext(ctx); got.TraceID().String() != other[3:35] {
			t.Errorf("the handler is in the trace %v", got.TraceID())
		}
		return nil
	}))
	span := r.ended("process orders")
	if parentOf(span.Parent()) != other || !span.Parent().IsRemote() || len(span.Links()) != 0 || span.SpanKind() != trace.SpanKindConsumer {
		t.Errorf("it is a %v below %v, with the links %v", span.SpanKind(), span.Parent(), span.Links())
	}
	if attributed(span, "messaging.consumer.group.name") != "billing" || attributed(span, "postbag.message.attempt") != "2" || attributed(span, "messaging.message.id") != "" {
		t.Errorf("its attributes are %v", span.Attributes())
	}
	if n := r.value("messaging.client.consumed.messages", attribute.String("messaging.consumer.group.name", "billing")); n != 1 {
		t.Errorf("%d messages were counted, want 1", n)
	}
	if n := r.value("messaging.process.duration"); n != 1 {
		t.Errorf("%d messages were measured, want 1", n)
	}
}

func TestAHandlerInAnotherSpanIsBelowItOnlyInTheSameTrace(t *testing.T) {
	t.Parallel()
	r := record(t, otelpostbag.Options{})
	_, publish := r.start("publish")
	message := map[string]string{"traceparent": parentOf(publish)}
	same, send := r.tracers.Tracer("test").Start(trace.ContextWithRemoteSpanContext(t.Context(), publish), "send")
	apart, batch := r.start("batch")
	for name, c := range map[string]struct {
		ctx     context.Context
		headers map[string]string
		fresh   bool
		parent  trace.SpanContext
		links   []trace.SpanContext
	}{
		"a call of the same trace":          {same, message, false, send.SpanContext(), []trace.SpanContext{publish}},
		"a call of another trace":           {apart, message, false, publish, []trace.SpanContext{batch}},
		"a message without a trace":         {same, nil, false, send.SpanContext(), nil},
		"a trace that cannot be read":       {same, map[string]string{"traceparent": "x"}, false, send.SpanContext(), nil},
		"nothing":                           {t.Context(), nil, false, trace.SpanContext{}, nil},
		"a trace of its own":                {t.Context(), message, true, trace.SpanContext{}, []trace.SpanContext{publish}},
		"a trace of its own, within a call": {apart, message, true, trace.SpanContext{}, []trace.SpanContext{batch, publish}},
	} {
		r.spans.Reset()
		fail(t, handle(c.ctx, r, otelpostbag.HandlerOptions{NewTrace: c.fresh}, c.headers, nothing))
		span := r.ended("process orders")
		if span.Parent().SpanID() != c.parent.SpanID() || len(span.Links()) != len(c.links) {
			t.Errorf("%s: it is below %v, with the links %v", name, span.Parent(), span.Links())
			continue
		}
		for i, link := range span.Links() {
			if link.SpanContext.SpanID() != c.links[i].SpanID() {
				t.Errorf("%s: link %d is %v", name, i, link)
			}
		}
	}
}

func TestBaggageOfAMessageReachesItsHandler(t *testing.T) {
	t.Parallel()
	r := record(t, otelpostbag.Options{Propagator: propagation.NewCompositeTextMapPropagator(propagation.TraceContext{}, propagation.Baggage{})})
	var got []string
	for _, headers := range []map[string]string{{"baggage": "tenant=acme"}, {"baggage": "tenant=acme", "traceparent": other}} {
		fail(t, handle(t.Context(), r, otelpostbag.HandlerOptions{}, headers, func(ctx context.Context) error {
			got = append(got, baggage.FromContext(ctx).Member("tenant").Value())
			return nil
		}))
	}
	if strings.Join(got, " ") != "acme acme" {
		t.Errorf("the handlers saw %q", got)
	}
}

func TestAHandlerThatFailsSaysSoAndKeepsItsError(t *testing.T) {
	t.Parallel()
	for want, err := range map[string]error{
		"rejected": fmt.Errorf("%w: no such customer", inbox.ErrRejected), "timeout": context.DeadlineExceeded,
		"canceled": context.Canceled, "_OTHER": errors.New("no such customer \xff" + strings.Repeat("x", 5000)),
	} {
		r := record(t, otelpostbag.Options{})
		if got := handle(t.Context(), r, otelpostbag.HandlerOptions{}, nil, func(context.Context) error { return err }); !errors.Is(got, err) {
			t.Errorf("%s: the error is %v", want, got)
		}
		span := r.ended("process orders")
		if attributed(span, "error.type") != want || span.Status().Code != codes.Error || len(span.Status().Description) > 1100 || strings.Contains(span.Status().Description, "\xff") {
			t.Errorf("%s: the span says %v, %v", want, span.Status(), span.Attributes())
		}
		if n := r.value("messaging.process.duration", attribute.String("error.type", want)); n != 1 {
			t.Errorf("%s: %d failures were measured, want 1", want, n)
		}
	}
}

func TestAHandlerThatPanicsStillPanicsAndItsSpanEnds(t *testing.T) {
	t.Parallel()
	r := record(t, otelpostbag.Options{})
	func() {
		defer func() {
			if v := recover(); v != "secret" {
				t.Errorf("the panic is %v", v)
			}
		}()
		_ = handle(t.Context(), r, otelpostbag.HandlerOptions{}, nil, func(context.Context) error { panic("secret") })
	}()
	if span := r.ended("process orders"); attributed(span, "error.type") != "panic" {
		t.Errorf("the span says %v", span.Attributes())
	}
}

// A box that a handler works: the call and the handler are in one process.
func TestTheCallOfARelayAndTheHandlerBehindItAreOneTrace(t *testing.T) {
	t.Parallel()
	r := record(t, otelpostbag.Options{})
	s := database(t)
	pub, err := postbag.NewPublisher(s, r.tel.Publisher(postbag.PublisherOptions{}))
	fail(t, err)
	to, err := inbox.NewDestination(inbox.DestinationOptions[*memstore.Tx]{
		Store: s, Consumer: "billing", Use: []inbox.Middleware[*memstore.Tx]{otelpostbag.Handler[*memstore.Tx](r.tel, otelpostbag.HandlerOptions{Consumer: "billing"})},
		Handle: func(context.Context, *memstore.Tx, *inbox.Message) error { return nil },
	})
	fail(t, err)
	fail(t, pub.InTx(t.Context(), func(ctx context.Context, tx *memstore.Tx) error {
		return pub.Publish(ctx, tx, postbag.Message{Topic: "orders"})
	}))
	rel, err := relay.New(s, relay.Options{Subscriptions: []relay.Subscription{{To: to, Use: []broker.Middleware{r.tel.Relay}}}})
	fail(t, err)
	fail(t, rel.Drain(t.Context()))
	publish, send, process := r.ended("publish outbox"), r.ended("send orders"), r.ended("process orders")
	if send.Parent().SpanID() != publish.SpanContext().SpanID() || process.Parent().SpanID() != send.SpanContext().SpanID() ||
		process.SpanContext().TraceID() != publish.SpanContext().TraceID() || len(process.Links()) != 1 {
		t.Errorf("the call is below %v, and the handler below %v with the links %v", send.Parent(), process.Parent(), process.Links())
	}
}

// A durable inbox: a receiver stores what a broker delivers, and a relay works the box.
func TestATraceOutlivesTheBoxOfAnInbox(t *testing.T) {
	t.Parallel()
	r := record(t, otelpostbag.Options{})
	s := memstore.New(memstore.Options{})
	fail(t, s.CreateBox(t.Context(), "inbox"))
	from := memsource.New(memsource.Options{})
	fail(t, from.Publish(source.Message{
		Topic: "orders", Payload: []byte("p"),
		Headers: source.Headers{{Name: broker.HeaderID, Value: postbag.NewID().String()}, {Name: "traceparent", Value: other}},
	}))
	in := from.Join("billing")
	receiver, err := inbox.NewReceiver(inbox.ReceiverOptions[*memstore.Tx]{Store: s, Source: in})
	fail(t, err)
	end := run(t, receiver.Run)
	fail(t, from.WaitUntilAcked(t.Context(), "billing"))
	end()
	fail(t, in.Close(t.Context()))
	to, err := inbox.NewDestination(inbox.DestinationOptions[*memstore.Tx]{
		Store: s, Consumer: "billing", Use: []inbox.Middleware[*memstore.Tx]{otelpostbag.Handler[*memstore.Tx](r.tel, otelpostbag.HandlerOptions{})},
		Handle: func(context.Context, *memstore.Tx, *inbox.Message) error { return nil },
	})
	fail(t, err)
	rel, err := relay.New(s, relay.Options{Subscriptions: []relay.Subscription{{Box: "inbox", To: to, Use: []broker.Middleware{r.tel.Relay}}}})
	fail(t, err)
	fail(t, rel.Drain(t.Context()))
	send, process := r.ended("send orders"), r.ended("process orders")
	if parentOf(send.Parent()) != other || process.Parent().SpanID() != send.SpanContext().SpanID() {
		t.Errorf("the call is below %v, and the handler below %v", send.Parent(), process.Parent())
	}
}
