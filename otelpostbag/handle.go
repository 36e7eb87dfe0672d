package otelpostbag

import (
	"cmp"
	"context"
	"slices"
	"time"

	"go.opentelemetry.io/otel/attribute"
	semconv "go.opentelemetry.io/otel/semconv/v1.43.0"
	"go.opentelemetry.io/otel/trace"

	"github.com/postbag/postbag/broker"
	"github.com/postbag/postbag/inbox"
)

// HandlerOptions say how messages are traced that a handler applies. The zero value is
// complete.
type HandlerOptions struct {
	// Consumer is the name under which the messages are marked. It becomes
	// messaging.consumer.group.name. Defaults to none.
	Consumer string
	// System is where the messages come from, such as "nats": messaging.system. Defaults to
	// "postbag".
	System string
	// NewTrace gives each message a trace of its own, with a link to that of the message.
	// By default the span continues the message's trace.
	NewTrace bool
}

// Handler returns middleware for inbox.ConsumerOptions.Use, and Use of destinations. Each
// call of the handler has a span, named "process" and the topic. It continues the trace
// that the message's headers name. What the handler publishes with its context belongs to
// the same trace.
//
// If the context has a span already, such as that of a relay's call, and it is of that
// trace, the new span is its child. If it is of another trace, the new span links to it.
// The span ends before the transaction commits. Messages that were applied before have
// none.
func Handler[Tx any](t *Telemetry, o HandlerOptions) inbox.Middleware[Tx] {
	return func(next inbox.Handler[Tx]) inbox.Handler[Tx] {
		if t == nil {
			return next
		}
		return func(ctx context.Context, tx Tx, m *inbox.Message) (err error) {
			p := t.process(o)
			ctx = guarded(t, "the start of a span", ctx, func() context.Context { return p.start(ctx, o, m) })
			returned := false
			defer func() { t.guard("a metric", func() { p.end(ctx, err, returned) }) }()
			err = next(ctx, tx, m)
			returned = true
			return err
		}
	}
}

// processing is one call of a handler.
type processing struct {
	t     *Telemetry
	span  trace.Span // nil: there is none
	begun time.Time
	of    []attribute.KeyValue // attributes of span and metrics
}

func (t *Telemetry) process(o HandlerOptions) *processing {
	p := &processing{t: t, begun: time.Now(), of: []attribute.KeyValue{
		semconv.MessagingSystemKey.String(cmp.Or(o.System, ownSystem)), semconv.MessagingOperationName("process"),
		semconv.MessagingOperationTypeProcess,
	}}
	if o.Consumer != "" {
		p.of = append(p.of, semconv.MessagingConsumerGroupName(o.Consumer))
	}
	return p
}

func (p *processing) start(ctx context.Context, o HandlerOptions, m *inbox.Message) context.Context {
	destination := p.t.template(m.Topic)
	if destination != "" {
		p.of = append(p.of, semconv.MessagingDestinationTemplate(destination))
	}
	of := append(slices.Clone(p.of), attemptKey.Int(m.Attempt))
	if m.Topic != "" {
		of = append(of, semconv.MessagingDestinationName(text(m.Topic)))
	}
	if p.t.o.MessageIDs {
		of = append(of, semconv.MessagingMessageID(idOf(m)))
	}
	parent, links := p.parent(ctx, m)
	options := []trace.SpanStartOption{trace.WithSpanKind(trace.SpanKindConsumer), trace.WithAttributes(of...)}
	if o.NewTrace {
		options = append(options, trace.WithNewRoot())
		if before := trace.SpanContextFromContext(parent); before.IsValid() {
			links = append(links, trace.Link{SpanContext: before})
		}
	}
	options = append(options, trace.WithLinks(links...))
	started, span := p.t.start(parent, named("process", cmp.Or(destination, text(m.Topic))), options...)
	if span == nil {
		return ctx
	}
	p.span = span
	return started
}

// idOf is the id that the spans of the sender have too, where a relay sent the message. A
// transport has a place of its own for ids, of which the mark is made.
func idOf(m *inbox.Message) string {
	if m.From != nil {
		if id, there := m.From.Headers.Get(broker.HeaderID); there {
			return text(id)
		}
	}
	return m.ID.String()
}

// parent returns ctx with what the message's headers carry, and with the span that comes
// before the new one: that of ctx or that of the message. The links are to the other one.
func (p *processing) parent(ctx context.Context, m *inbox.Message) (context.Context, []trace.Link) {
	if !p.t.carries(m.Headers) {
		return ctx, nil
	}
	around := trace.SpanFromContext(ctx)
	read := p.t.o.Propagator.Extract(trace.ContextWithSpanContext(ctx, trace.SpanContext{}), carrier(m.Headers))
	from, outer := trace.SpanContextFromContext(read), around.SpanContext()
	if !from.IsValid() {
		return trace.ContextWithSpan(read, around), nil
	}
	switch {
	case !outer.IsValid():
		return read, nil
	case outer.TraceID() == from.TraceID():
		return trace.ContextWithSpan(read, around), []trace.Link{{SpanContext: from}}
	default:
		return read, []trace.Link{{SpanContext: outer}}
	}
}

func (p *processing) end(ctx context.Context, err error, returned bool) {
	p.of = p.t.endSpan(p.span, p.of, err, returned)
	add(ctx, p.t.consumed, 1, p.of)
	since(ctx, p.t.processed, p.begun, p.of)
}
