package otelpostbag

import (
	"context"
	"errors"
	"fmt"

	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"
	"go.opentelemetry.io/otel/propagation"
	semconv "go.opentelemetry.io/otel/semconv/v1.43.0"
	"go.opentelemetry.io/otel/trace"
)

// scope names this package to OpenTelemetry.
const scope = "github.com/postbag/postbag/otelpostbag"

// Options say where spans and measurements go, and what they hold. The zero value is
// complete.
type Options struct {
	// TracerProvider makes spans. Give one that exports in batches, as sdktrace.WithBatcher
	// does: one that exports at once makes every call wait. Defaults to
	// otel.GetTracerProvider().
	TracerProvider trace.TracerProvider
	// MeterProvider makes metrics. Defaults to otel.GetMeterProvider().
	MeterProvider metric.MeterProvider
	// Propagator writes the context of a trace into the headers of messages, and reads it
	// there. To carry baggage too, give
	// propagation.NewCompositeTextMapPropagator(propagation.TraceContext{}, propagation.Baggage{}).
	// Everybody who gets the message then sees the baggage. Defaults to
	// propagation.TraceContext{}, and not to the global one, which does nothing by default.
	Propagator propagation.TextMapPropagator
	// MessageIDs adds the ids of messages to spans (messaging.message.id), and to each link.
	// They never come into metrics. Defaults to false.
	MessageIDs bool
	// Destination returns for a topic a name that few others have, such as "orders.{id}" for
	// "orders.17". Spans are named by it, and it is an attribute of spans and metrics
	// (messaging.destination.template). It must be safe for concurrent use, and return soon.
	// Return "" for a topic without such a name. Nil: spans are named by the topic, and
	// metrics do not have it.
	Destination func(topic string) string
	// OnFault is called when code of OpenTelemetry panics, and when a message has no room for
	// the headers of a trace. The message goes on without. It must return soon, and is called
	// from several goroutines. Defaults to nothing.
	OnFault func(error)
}

// Telemetry makes spans and metrics. It is safe for concurrent use. It starts no goroutine
// and needs no closing: shut down the providers, when relays and consumers have stopped.
// A nil *Telemetry does nothing, and costs nothing. Make it with [New].
type Telemetry struct {
	o      Options
	tracer trace.Tracer
	meter  metric.Meter
	fields []string // headers that the propagator writes

	instruments
}

// New returns what traces and measures. The error says that a provider gives no tracer, or
// refuses an instrument.
func New(o Options) (*Telemetry, error) {
	if o.TracerProvider == nil {
		o.TracerProvider = otel.GetTracerProvider()
	}
	if o.MeterProvider == nil {
		o.MeterProvider = otel.GetMeterProvider()
	}
	if o.Propagator == nil {
		o.Propagator = propagation.TraceContext{}
	}
	t := &Telemetry{o: o}
	err := errors.New("otelpostbag: new: it panicked; give providers and a propagator that are not nil pointers")
	t.guard("a provider", func() { err = t.open() })
	if err != nil {
		return nil, err
	}
	return t, nil
}

func (t *Telemetry) open() (err error) {
	t.tracer = t.o.TracerProvider.Tracer(scope, trace.WithSchemaURL(semconv.SchemaURL))
	t.meter = t.o.MeterProvider.Meter(scope, metric.WithSchemaURL(semconv.SchemaURL))
	if t.tracer == nil || t.meter == nil {
		return errors.New("otelpostbag: new: the provider gives no tracer or no meter; use one of the SDK, or one of package noop")
	}
	t.fields = t.o.Propagator.Fields()
	if t.instruments, err = newInstruments(t.meter); err != nil {
		return fmt.Errorf("otelpostbag: new: %w", err)
	}
	return nil
}

// guard calls code that is not ours. If it panics, OnFault hears of it.
func (t *Telemetry) guard(what string, call func()) {
	guarded(t, what, struct{}{}, func() struct{} {
		call()
		return struct{}{}
	})
}

// guarded returns what call returns, or instead if that panics.
func guarded[T any](t *Telemetry, what string, instead T, call func() T) (out T) {
	defer func() {
		if v := recover(); v != nil {
			t.fault(fmt.Errorf("otelpostbag: %s panicked (%T), and messages go on without it; fix what otelpostbag.New was given", what, v))
			out = instead
		}
	}()
	return call()
}

// fault tells OnFault, which may panic too.
func (t *Telemetry) fault(err error) {
	if t.o.OnFault == nil {
		return
	}
	defer func() { _ = recover() }() // nobody is left to be told
	t.o.OnFault(err)
}

// start starts a span. It returns ctx and nil if that panics.
func (t *Telemetry) start(ctx context.Context, name string, options ...trace.SpanStartOption) (context.Context, trace.Span) {
	started, span := t.tracer.Start(ctx, name, options...)
	if started == nil || span == nil {
		return ctx, nil
	}
	return started, span
}

// endSpan ends the span of an operation, with why that failed if it did. It returns the attributes of the operation's
// metrics: of, and the kind of the error.
func (t *Telemetry) endSpan(span trace.Span, of []attribute.KeyValue, err error, returned bool) []attribute.KeyValue {
	kind, reason := "", ""
	switch {
	case !returned:
		kind, reason = errPanic, panicked
	case err != nil:
		kind, reason = errorType(err), err.Error()
	}
	if span != nil {
		t.guard("the end of a span", func() {
			defer span.End()
			if kind != "" {
				failed(span, kind, reason)
			}
		})
	}
	if kind != "" {
		of = append(of, semconv.ErrorTypeKey.String(kind))
	}
	return of
}

// named is the name of a span, by the name of the operation and the destination.
func named(operation, destination string) string {
	if destination == "" {
		return operation
	}
	return operation + " " + destination
}
