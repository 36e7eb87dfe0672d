package otelpostbag_test

import (
	"context"
	"errors"
	"maps"
	"slices"
	"strings"
	"testing"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/baggage"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/trace"
	"go.opentelemetry.io/otel/trace/noop"

	"github.com/postbag/postbag"
	"github.com/postbag/postbag/otelpostbag"
)

const other = "00-0123456789abcdef0123456789abcdef-0123456789abcdef-01"

// parentOf is the traceparent of a message that was published in a span.
func parentOf(s trace.SpanContext) string {
	return "00-" + s.TraceID().String() + "-" + s.SpanID().String() + "-01"
}

func TestEveryMessageOfACallCarriesTheContextOfItsSpan(t *testing.T) {
	t.Parallel()
	r := record(t, otelpostbag.Options{})
	ctx, request := r.start("request")
	own := map[string]string{"color": "red"}
	msgs, err := publish(ctx, t, r.tel.Publisher(postbag.PublisherOptions{}), postbag.Message{Headers: own}, postbag.Message{})
	fail(t, err)
	span := r.ended("publish outbox")
	if span.Parent().SpanID() != request.SpanID() || span.SpanKind() != trace.SpanKindProducer {
		t.Errorf("it is a %v below %v", span.SpanKind(), span.Parent())
	}
	for i, m := range msgs {
		if m.Headers["traceparent"] != parentOf(span.SpanContext()) {
			t.Errorf("message %d carries %v", i, m.Headers)
		}
	}
	if len(own) != 1 || msgs[0].Headers["color"] != "red" {
		t.Errorf("the caller's headers are %v, and those of the message %v", own, msgs[0].Headers)
	}
	if attributed(span, "messaging.batch.message_count") != "2" || attributed(span, "messaging.destination.name") != "outbox" || attributed(span, "messaging.operation.type") != "create" {
		t.Errorf("its attributes are %v", span.Attributes())
	}
	if n := r.value("messaging.client.operation.duration", attribute.String("messaging.operation.name", "publish")); n != 1 {
		t.Errorf("%d calls were measured, want 1", n)
	}
}

func TestAMessageWithATraceOfItsOwnKeepsItAndIsLinked(t *testing.T) {
	t.Parallel()
	r := record(t, otelpostbag.Options{})
	ctx, _ := r.start("request")
	msgs, err := publish(ctx, t, r.tel.Publisher(postbag.PublisherOptions{}), postbag.Message{Headers: map[string]string{"Traceparent": other}})
	fail(t, err)
	if !maps.Equal(msgs[0].Headers, map[string]string{"Traceparent": other}) {
		t.Errorf("its headers are %v", msgs[0].Headers)
	}
	links := r.ended("publish outbox").Links()
	if len(links) != 1 || parentOf(links[0].SpanContext) != other {
		t.Errorf("the links are %v", links)
	}
}

func TestAMessageWithAPartOfATraceGetsTheWholeOne(t *testing.T) {
	t.Parallel()
	both := propagation.NewCompositeTextMapPropagator(propagation.TraceContext{}, propagation.Baggage{})
	member, err := baggage.NewMember("tenant", "acme")
	fail(t, err)
	bag, err := baggage.New(member)
	fail(t, err)
	for name, c := range map[string]struct{ has, keeps map[string]string }{
		"baggage":             {map[string]string{"Baggage": "tenant=own"}, map[string]string{"Baggage": "tenant=own"}},
		"a state alone":       {map[string]string{"tracestate": "a=1"}, map[string]string{"baggage": "tenant=acme"}},
		"a parent of nothing": {map[string]string{"TraceParent": "00-0-0-01"}, map[string]string{"baggage": "tenant=acme"}},
	} {
		r := record(t, otelpostbag.Options{Propagator: both})
		ctx, _ := r.start("request")
		msgs, err := publish(baggage.ContextWithBaggage(ctx, bag), t, r.tel.Publisher(postbag.PublisherOptions{}), postbag.Message{Headers: c.has})
		fail(t, err)
		want := maps.Clone(c.keeps)
		want["traceparent"] = parentOf(r.ended("publish outbox").SpanContext())
		if !maps.Equal(msgs[0].Headers, want) {
			t.Errorf("%s: the headers are %v, want %v", name, msgs[0].Headers, want)
		}
	}
}

func TestBaggageGoesWithAMessageOnlyIfThePropagatorHasIt(t *testing.T) {
	t.Parallel()
	member, err := baggage.NewMember("tenant", "acme")
	fail(t, err)
	bag, err := baggage.New(member)
	fail(t, err)
	for want, o := range map[string]otelpostbag.Options{
		"":            {},
		"tenant=acme": {Propagator: propagation.NewCompositeTextMapPropagator(propagation.TraceContext{}, propagation.Baggage{})},
	} {
		r := record(t, o)
		msgs, err := publish(baggage.ContextWithBaggage(t.Context(), bag), t, r.tel.Publisher(postbag.PublisherOptions{}), postbag.Message{})
		fail(t, err)
		if got := msgs[0].Headers["baggage"]; got != want || msgs[0].Headers["traceparent"] == "" {
			t.Errorf("the headers are %v, want the baggage %q", msgs[0].Headers, want)
		}
	}
}

func TestATraceNeverMakesAMessageTooLargeForItsBox(t *testing.T) {
	t.Parallel()
	var told error
	r := record(t, otelpostbag.Options{OnFault: func(err error) { told = err }})
	for _, length := range []int{postbag.MaxHeader - 12, postbag.MaxHeader - 40} { // the most that a box takes, and a little less
		told = nil
		msgs, err := publish(t.Context(), t, r.tel.Publisher(postbag.PublisherOptions{}), postbag.Message{Headers: map[string]string{"a": strings.Repeat("x", length)}})
		fail(t, err)
		if len(msgs[0].Headers) != 1 || told == nil || !strings.Contains(told.Error(), "no room") {
			t.Errorf("with %d bytes of its own it has %d headers, and OnFault heard %v", length, len(msgs[0].Headers), told)
		}
	}
	msgs, err := publish(t.Context(), t, r.tel.Publisher(postbag.PublisherOptions{}), postbag.Message{Headers: map[string]string{"a": strings.Repeat("x", postbag.MaxHeader-200)}})
	fail(t, err)
	if len(msgs[0].Headers) != 2 {
		t.Error("a message that has room does not carry its trace")
	}
}

// odd writes headers that no box takes.
type odd struct{ propagation.TraceContext }

func (odd) Inject(_ context.Context, to propagation.TextMapCarrier) {
	for name, value := range map[string]string{"": "x", "postbag-id": "x", "empty": "", "nul\x00": "x", "latin": "\xe9", "good": "yes"} {
		to.Set(name, value)
	}
}

func TestAPropagatorCannotSpoilAMessage(t *testing.T) {
	t.Parallel()
	r := record(t, otelpostbag.Options{Propagator: odd{}})
	msgs, err := publish(t.Context(), t, r.tel.Publisher(postbag.PublisherOptions{}), postbag.Message{})
	fail(t, err)
	if !maps.Equal(msgs[0].Headers, map[string]string{"good": "yes"}) {
		t.Errorf("its headers are %q", msgs[0].Headers)
	}
}

func TestAWrapperComesBeforeTheTraceAndKeepsItsMessages(t *testing.T) {
	t.Parallel()
	r := record(t, otelpostbag.Options{})
	shared := map[string]string{"by": "wrapper"}
	var own []postbag.Message
	msgs, err := publish(t.Context(), t, r.tel.Publisher(postbag.PublisherOptions{Wrap: func(next postbag.PublishFunc) postbag.PublishFunc {
		return func(ctx context.Context, msgs []postbag.Message) error {
			own = slices.Concat(msgs, []postbag.Message{{Headers: shared}})
			return next(ctx, own)
		}
	}}), postbag.Message{})
	fail(t, err)
	if len(msgs) != 2 || msgs[1].Headers["traceparent"] == "" || len(shared) != 1 || len(own[1].Headers) != 1 {
		t.Errorf("the messages are %v, and those of the wrapper %v with %v", msgs, own, shared)
	}
	if attributed(r.ended("publish outbox"), "messaging.batch.message_count") != "2" {
		t.Error("the span does not count what the wrapper added")
	}
}

func TestAMessageThatIsRefusedIsSaidByTheSpanAndTheMetric(t *testing.T) {
	t.Parallel()
	r := record(t, otelpostbag.Options{})
	_, err := publish(t.Context(), t, r.tel.Publisher(postbag.PublisherOptions{}), postbag.Message{Headers: map[string]string{"Postbag-Id": "x"}})
	if _, is := errors.AsType[*postbag.MessageError](err); !is {
		t.Fatalf("the error is %v", err)
	}
	span := r.ended("publish outbox")
	if span.Status().Code != codes.Error || attributed(span, "error.type") != "invalid_message" {
		t.Errorf("the span says %v, %v", span.Status(), span.Attributes())
	}
	if n := r.value("messaging.client.operation.duration", attribute.String("error.type", "invalid_message")); n != 1 {
		t.Errorf("%d failures were measured, want 1", n)
	}
}

func TestWithoutASamplerOrAProviderTheTraceOfTheCallerGoesOn(t *testing.T) {
	t.Parallel()
	r := record(t, otelpostbag.Options{TracerProvider: noop.NewTracerProvider()})
	ctx, request := r.start("request")
	msgs, err := publish(ctx, t, r.tel.Publisher(postbag.PublisherOptions{}), postbag.Message{})
	fail(t, err)
	if msgs[0].Headers["traceparent"] != parentOf(request) {
		t.Errorf("its headers are %v", msgs[0].Headers)
	}
	msgs, err = publish(t.Context(), t, r.tel.Publisher(postbag.PublisherOptions{}), postbag.Message{})
	fail(t, err)
	if len(msgs[0].Headers) != 0 {
		t.Errorf("without a trace its headers are %v", msgs[0].Headers)
	}
}
