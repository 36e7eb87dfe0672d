package otelpostbag

import (
	"context"
	"slices"
	"time"

	"go.opentelemetry.io/otel/attribute"
	semconv "go.opentelemetry.io/otel/semconv/v1.43.0"
	"go.opentelemetry.io/otel/trace"

	"github.com/postbag/postbag"
)

// Publisher returns options whose publisher traces. Each call of Publish has a span, named
// "publish" and the box, as a child of the span in its context. Its context goes into the
// headers of the messages, and so to everybody who gets them. A message that has
// headers of a trace keeps them, and the span links to that trace.
//
// The span ends before the transaction does: it does not say whether that committed. A
// call whose event could not be encoded has none. PublisherOptions.Wrap, if there is one,
// comes first.
func (t *Telemetry) Publisher(o postbag.PublisherOptions) postbag.PublisherOptions {
	if t == nil {
		return o
	}
	box := o.Box
	if box == "" {
		box = "outbox"
	}
	before := o.Wrap
	o.Wrap = func(next postbag.PublishFunc) postbag.PublishFunc {
		traced := func(ctx context.Context, msgs []postbag.Message) error {
			return t.publish(ctx, box, msgs, before == nil, next)
		}
		if before == nil {
			return traced
		}
		return before(traced)
	}
	return o
}

// publishing is one call of Publish.
type publishing struct {
	t     *Telemetry
	span  trace.Span // nil: there is none
	begun time.Time
	of    []attribute.KeyValue // attributes of span and metrics
}

// publish traces a call. ours says that the messages and their maps are the publisher's
// copies, and not those of another middleware.
func (t *Telemetry) publish(ctx context.Context, box string, msgs []postbag.Message, ours bool, next postbag.PublishFunc) (err error) {
	if len(msgs) == 0 {
		return next(ctx, msgs)
	}
	p := publishing{t: t, begun: time.Now(), of: []attribute.KeyValue{
		semconv.MessagingSystemKey.String(ownSystem), semconv.MessagingOperationName("publish"),
		semconv.MessagingOperationTypeCreate, semconv.MessagingDestinationName(box),
	}}
	if !ours {
		msgs = slices.Clone(msgs)
	}
	ctx = guarded(t, "the start of a span", ctx, func() context.Context { return p.start(ctx, box, msgs) })
	t.guard("the propagator", func() { t.inject(ctx, msgs, ours) })
	returned := false
	defer func() { t.guard("a metric", func() { p.end(ctx, err, returned) }) }()
	err = next(ctx, msgs)
	returned = true
	return err
}

// start starts the span. It says what the messages are, and links to the traces that they
// are of.
func (p *publishing) start(ctx context.Context, box string, msgs []postbag.Message) context.Context {
	of := slices.Clone(p.of)
	if len(msgs) > 1 {
		of = append(of, semconv.MessagingBatchMessageCount(len(msgs)))
	} else if p.t.o.MessageIDs {
		of = append(of, semconv.MessagingMessageID(msgs[0].ID.String()))
	}
	var links linked
	for i := range msgs {
		links.add(p.t, p.t.extract(msgs[i].Headers), msgs[i].ID)
	}
	ctx, p.span = p.t.start(ctx, named("publish", box),
		trace.WithSpanKind(trace.SpanKindProducer), trace.WithAttributes(of...), trace.WithLinks(links.all...))
	return ctx
}

func (p *publishing) end(ctx context.Context, err error, returned bool) {
	p.of = p.t.endSpan(p.span, p.of, err, returned)
	since(ctx, p.t.operations, p.begun, p.of)
}

// linked are the links of a span, one for each context if messages are not named.
type linked struct {
	all   []trace.Link
	seen  map[contextName]bool
	first trace.SpanContext
}

type contextName struct {
	trace trace.TraceID
	span  trace.SpanID
}

// add adds a link to the context of a message, if it has one.
func (l *linked) add(t *Telemetry, to trace.SpanContext, id postbag.ID) {
	if !to.IsValid() {
		return
	}
	name := contextName{to.TraceID(), to.SpanID()}
	if l.seen == nil {
		l.first, l.seen = to, map[contextName]bool{}
	}
	repeated := l.seen[name]
	l.seen[name] = true
	switch {
	case t.o.MessageIDs:
		l.all = append(l.all, trace.Link{SpanContext: to, Attributes: []attribute.KeyValue{semconv.MessagingMessageID(id.String())}})
	case !repeated:
		l.all = append(l.all, trace.Link{SpanContext: to})
	}
}

// one says whether all messages with a context have the same one.
func (l *linked) one() bool { return len(l.seen) == 1 }
