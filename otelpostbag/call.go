package otelpostbag

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"sync/atomic"
	"time"

	"go.opentelemetry.io/otel/attribute"
	semconv "go.opentelemetry.io/otel/semconv/v1.43.0"
	"go.opentelemetry.io/otel/trace"

	"github.com/postbag/postbag/broker"
)

// Relay is a [broker.Middleware]: put it into relay.Subscription.Use. Each call to the
// destination has a span, named "send" and the topic, with links to the contexts of its
// messages. Where all of them are of one context, the span is a child of that, and so part
// of its trace. Others begin a trace.
//
// If the context of the call has a span already, such as that of relay.Relay.Run, or of
// middleware before this one, a span that would begin a trace is its child. One that is of a
// message's trace links to it, or is its child if it is of the same trace.
//
// It sends messages as they are. So a consumer continues the trace of the one who
// published, and a message that is sent twice has the same bytes twice.
func (t *Telemetry) Relay(next broker.Destination) broker.Destination {
	if t == nil {
		return next
	}
	return &destination{Destination: next, t: t, system: systemOf(next.Features().Binding)}
}

// destination traces the calls to another one.
type destination struct {
	broker.Destination

	t      *Telemetry
	system string
}

// Publish implements broker.Destination.
func (d *destination) Publish(ctx context.Context, msgs []broker.Delivery, report func(i int, r broker.Result)) {
	if len(msgs) == 0 {
		d.Destination.Publish(ctx, msgs, report)
		return
	}
	c := &call{t: d.t, begun: time.Now(), messages: int64(len(msgs)), of: []attribute.KeyValue{
		semconv.MessagingSystemKey.String(d.system), semconv.MessagingOperationName("send"), semconv.MessagingOperationTypeSend,
		boxKey.String(msgs[0].Box), subscriptionKey.String(msgs[0].Subscription),
	}}
	ctx = guarded(d.t, "the start of a span", ctx, func() context.Context { return c.start(ctx, msgs) })
	returned := false
	defer func() { d.t.guard("a metric", func() { c.end(ctx, returned) }) }()
	d.Destination.Publish(ctx, msgs, func(i int, r broker.Result) {
		c.note(r)
		report(i, r)
	})
	returned = true
}

// call is one call to a destination. It keeps nothing of the messages.
type call struct {
	t        *Telemetry
	span     trace.Span // nil: there is none
	begun    time.Time
	messages int64
	of       []attribute.KeyValue // attributes of span and metrics

	outcomes [broker.NotSent + 1]atomic.Int64 // what was reported
	reason   atomic.Pointer[error]            // of the first failure
}

func (c *call) start(ctx context.Context, msgs []broker.Delivery) context.Context {
	topic, destination := msgs[0].Topic, c.t.template(msgs[0].Topic)
	var links linked
	for i := range msgs {
		if msgs[i].Topic != msgs[0].Topic {
			topic = ""
			if destination != "" && destination != c.t.template(msgs[i].Topic) {
				destination = ""
			}
		}
		links.add(c.t, c.t.extract(msgs[i].Headers), msgs[i].ID)
	}
	if destination != "" {
		c.of = append(c.of, semconv.MessagingDestinationTemplate(destination))
	}
	of := slices.Clone(c.of)
	if topic != "" {
		of = append(of, semconv.MessagingDestinationName(text(topic)))
	}
	if len(msgs) > 1 {
		of = append(of, semconv.MessagingBatchMessageCount(len(msgs)))
	} else {
		of = append(of, attemptKey.Int(msgs[0].Attempt))
		if c.t.o.MessageIDs {
			of = append(of, semconv.MessagingMessageID(msgs[0].ID.String()))
		}
	}
	// The context of Relay.Run may have a span, which lasts as long as the program.
	if outer := trace.SpanContextFromContext(ctx); links.one() && outer.TraceID() != links.first.TraceID() {
		if outer.IsValid() {
			links.all = append(links.all, trace.Link{SpanContext: outer})
		}
		ctx = trace.ContextWithRemoteSpanContext(ctx, links.first)
	}
	ctx, c.span = c.t.start(ctx, named("send", cmp.Or(destination, text(topic))),
		trace.WithSpanKind(trace.SpanKindClient), trace.WithAttributes(of...), trace.WithLinks(links.all...))
	return ctx
}

// note counts a result. It calls nothing that is not ours, since the relay waits for it.
func (c *call) note(r broker.Result) {
	if r.Outcome < 0 || int(r.Outcome) >= len(c.outcomes) {
		return
	}
	c.outcomes[r.Outcome].Add(1)
	if r.Err != nil && c.reason.Load() == nil {
		err := r.Err
		c.reason.CompareAndSwap(nil, &err)
	}
}

// end says what became of the messages. Those that were not reported are unknown.
func (c *call) end(ctx context.Context, returned bool) {
	left := c.messages
	var counts [len(c.outcomes)]int64
	for o := range c.outcomes {
		counts[o] = c.outcomes[o].Load()
		left -= counts[o]
	}
	counts[broker.Unknown] += max(left, 0)
	kind := ""
	for _, o := range []broker.Outcome{broker.NotSent, broker.Unknown, broker.Unavailable, broker.Misconfigured, broker.Rejected} {
		if counts[o] > 0 {
			kind = outcomeName(o)
		}
	}
	if !returned {
		kind = errPanic
	}
	c.t.guard("the end of a span", func() { c.endSpan(kind, counts[:]) })
	of := slices.Clip(c.of)
	for o, n := range counts {
		if n == 0 || o == int(broker.NotSent) {
			continue
		}
		name := outcomeName(broker.Outcome(o))
		each := slices.Concat(of, []attribute.KeyValue{outcomeKey.String(name)})
		if o != int(broker.Accepted) {
			each = append(each, semconv.ErrorTypeKey.String(name))
		}
		add(ctx, c.t.sent, n, each)
	}
	if kind != "" {
		of = append(of, semconv.ErrorTypeKey.String(kind))
	}
	since(ctx, c.t.operations, c.begun, of)
}

// endSpan ends the span, with how many messages had which outcome if not all were accepted.
func (c *call) endSpan(kind string, counts []int64) {
	if c.span == nil {
		return
	}
	defer c.span.End()
	if kind == "" {
		return
	}
	for o, n := range counts {
		if n > 0 && c.messages > 1 {
			c.span.SetAttributes(attribute.Int64("postbag.messages."+outcomeName(broker.Outcome(o)), n))
		}
	}
	reason := fmt.Sprintf("%d of %d messages were not accepted", c.messages-counts[broker.Accepted], c.messages)
	if kind == errPanic {
		reason = panicked
	} else if first := c.reason.Load(); first != nil {
		reason = (*first).Error()
	}
	failed(c.span, kind, reason)
}
