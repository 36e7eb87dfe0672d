package otelpostbag_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/trace"

	"github.com/postbag/postbag"
	"github.com/postbag/postbag/broker"
	"github.com/postbag/postbag/broker/membroker"
	"github.com/postbag/postbag/format"
	"github.com/postbag/postbag/otelpostbag"
)

// deliveries are messages with these traces, of one topic.
func deliveries(parents ...string) []broker.Delivery {
	msgs := make([]broker.Delivery, len(parents))
	for i, parent := range parents {
		msgs[i] = broker.Delivery{Message: postbag.Message{ID: postbag.NewID(), Topic: "orders", Key: "k"}, Box: "outbox", Subscription: "default", Attempt: 1}
		if parent != "" {
			msgs[i].Headers = map[string]string{"traceparent": parent}
		}
	}
	return msgs
}

func TestACallWithMessagesOfSeveralTracesLinksToEachOnce(t *testing.T) {
	t.Parallel()
	r := record(t, otelpostbag.Options{})
	_, one := r.start("one")
	_, two := r.start("two")
	broker.Publish(t.Context(), broker.Wrap(recording(broker.Result{Outcome: broker.Accepted}), r.tel.Relay),
		deliveries(parentOf(one), parentOf(two), parentOf(one), "", "no trace"))
	span := r.ended("send orders")
	if span.Parent().IsValid() || span.SpanKind() != trace.SpanKindClient || span.Status().Code != codes.Unset {
		t.Errorf("it is a %v below %v, %v", span.SpanKind(), span.Parent(), span.Status())
	}
	links := span.Links()
	if len(links) != 2 || links[0].SpanContext.SpanID() != one.SpanID() || links[1].SpanContext.SpanID() != two.SpanID() {
		t.Errorf("the links are %v", links)
	}
	if attributed(span, "messaging.batch.message_count") != "5" || attributed(span, "postbag.subscription") != "default" {
		t.Errorf("its attributes are %v", span.Attributes())
	}
	if n := r.value("messaging.client.sent.messages", attribute.String("postbag.outcome", "accepted")); n != 5 {
		t.Errorf("%d messages were counted, want 5", n)
	}
}

func TestACallWithMessagesOfOneTraceBelongsToIt(t *testing.T) {
	t.Parallel()
	r := record(t, otelpostbag.Options{MessageIDs: true})
	_, one := r.start("one")
	msgs := deliveries(parentOf(one), parentOf(one))
	broker.Publish(t.Context(), broker.Wrap(recording(broker.Result{Outcome: broker.Accepted}), r.tel.Relay), msgs)
	span := r.ended("send orders")
	if span.Parent().SpanID() != one.SpanID() || span.SpanContext().TraceID() != one.TraceID() || len(span.Links()) != 2 {
		t.Errorf("it is below %v, with the links %v", span.Parent(), span.Links())
	}
	for i, link := range span.Links() {
		if len(link.Attributes) != 1 || link.Attributes[0].Value.AsString() != msgs[i].ID.String() {
			t.Errorf("link %d has %v", i, link.Attributes)
		}
	}
}

// A program may run its relay in the context of a span.
func TestACallWithinAnotherSpanStillBelongsToTheTraceOfItsMessages(t *testing.T) {
	t.Parallel()
	r := record(t, otelpostbag.Options{})
	_, one := r.start("one")
	_, two := r.start("two")
	apart, run := r.start("run")
	same, around := r.tracers.Tracer("test").Start(trace.ContextWithRemoteSpanContext(t.Context(), one), "around")
	t.Cleanup(func() { around.End() })
	to := broker.Wrap(recording(broker.Result{Outcome: broker.Accepted}), r.tel.Relay)
	for name, c := range map[string]struct {
		ctx    context.Context
		of     []string
		parent trace.SpanContext
		links  []trace.SpanContext
	}{
		"of another trace":    {apart, []string{parentOf(one), ""}, one, []trace.SpanContext{one, run}},
		"of the same trace":   {same, []string{parentOf(one)}, around.SpanContext(), []trace.SpanContext{one}},
		"of several messages": {apart, []string{parentOf(one), parentOf(two)}, run, []trace.SpanContext{one, two}},
	} {
		r.spans.Reset()
		broker.Publish(c.ctx, to, deliveries(c.of...))
		span := r.ended("send orders")
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

func TestARelaySendsTheHeadersAsTheyAreEachTime(t *testing.T) {
	t.Parallel()
	r := record(t, otelpostbag.Options{})
	to := recording(broker.Result{Outcome: broker.Unknown})
	msgs := deliveries(other, "")
	for range 2 {
		broker.Publish(t.Context(), broker.Wrap(to, r.tel.Relay), msgs)
	}
	for i, m := range to.taken() {
		if want := msgs[i%2]; m.Headers["traceparent"] != want.Headers["traceparent"] || len(m.Headers) != len(want.Headers) {
			t.Errorf("message %d was sent with %v", i, m.Headers)
		}
	}
}

func TestSpanAndMetricsSayWhatBecameOfTheMessages(t *testing.T) {
	t.Parallel()
	r := record(t, otelpostbag.Options{})
	outcomes := []broker.Outcome{broker.Accepted, broker.Rejected, broker.Rejected, broker.NotSent}
	to := broker.Wrap(membroker.Null(), r.tel.Relay, func(next broker.Destination) broker.Destination {
		return answering{next, func(report func(i int, r broker.Result)) {
			for i, o := range outcomes { // the last message gets no answer
				report(i, broker.Result{Outcome: o, Err: errors.New("it is " + o.String())})
			}
		}}
	})
	got := broker.Publish(t.Context(), to, deliveries("", "", "", "", ""))
	for i, want := range append(outcomes, broker.Unknown) {
		if got[i].Outcome != want {
			t.Errorf("message %d is %v, want %v", i, got[i].Outcome, want)
		}
	}
	span := r.ended("send orders")
	if span.Status().Code != codes.Error || attributed(span, "error.type") != "rejected" || attributed(span, "postbag.messages.rejected") != "2" || attributed(span, "postbag.messages.unknown") != "1" {
		t.Errorf("the span says %v, %v", span.Status(), span.Attributes())
	}
	for outcome, want := range map[string]int64{"accepted": 1, "rejected": 2, "unknown": 1, "not_sent": 0} {
		if n := r.value("messaging.client.sent.messages", attribute.String("postbag.outcome", outcome)); n != want {
			t.Errorf("%d messages are counted as %s, want %d", n, outcome, want)
		}
	}
	if n := r.value("messaging.client.operation.duration", attribute.String("error.type", "rejected")); n != 1 {
		t.Errorf("%d calls were measured, want 1", n)
	}
}

// answering answers by itself.
type answering struct {
	broker.Destination

	answer func(report func(i int, r broker.Result))
}

func (a answering) Publish(_ context.Context, _ []broker.Delivery, report func(i int, r broker.Result)) {
	a.answer(report)
}

func TestADestinationThatPanicsStillPanicsAndItsSpanEnds(t *testing.T) {
	t.Parallel()
	r := record(t, otelpostbag.Options{})
	to := &destination{Destination: membroker.Null(), panics: true}
	func() {
		defer func() {
			if v := recover(); v != "secret" {
				t.Errorf("the panic is %v", v)
			}
		}()
		broker.Publish(t.Context(), broker.Wrap(to, r.tel.Relay), deliveries(""))
	}()
	span := r.ended("send orders")
	if attributed(span, "error.type") != "panic" || strings.Contains(fmt.Sprint(span.Status(), span.Attributes(), span.Events()), "secret") {
		t.Errorf("the span says %v, %v", span.Status(), span.Attributes())
	}
}

func TestTopicsComeIntoNamesAndMetricsOnlyByTheirTemplate(t *testing.T) {
	t.Parallel()
	r := record(t, otelpostbag.Options{Destination: func(topic string) string {
		if strings.HasPrefix(topic, "orders.") {
			return "orders.{id}"
		}
		return ""
	}})
	to := broker.Wrap(recording(broker.Result{Outcome: broker.Accepted}), r.tel.Relay)
	msgs := deliveries("", "")
	msgs[0].Topic, msgs[1].Topic = "orders.1", "orders.2"
	broker.Publish(t.Context(), to, msgs)
	if span := r.ended("send orders.{id}"); attributed(span, "messaging.destination.name") != "" || attributed(span, "messaging.destination.template") != "orders.{id}" {
		t.Errorf("the attributes are %v", span.Attributes())
	}
	if n := r.value("messaging.client.sent.messages", attribute.String("messaging.destination.template", "orders.{id}")); n != 2 {
		t.Errorf("%d messages were counted, want 2", n)
	}
	msgs[1].Topic = "other"
	broker.Publish(t.Context(), to, msgs)
	r.ended("send")
}

func TestTheSystemIsThatOfTheTransport(t *testing.T) {
	t.Parallel()
	for binding, want := range map[string]string{"": "postbag", broker.BindingAMQP: "rabbitmq", broker.BindingKafka: "kafka", broker.BindingNATS: "nats"} {
		r := record(t, otelpostbag.Options{})
		broker.Publish(t.Context(), broker.Wrap(membroker.New(membroker.Options{Binding: binding}), r.tel.Relay), deliveries(""))
		if got := attributed(r.ended("send orders"), "messaging.system"); got != want {
			t.Errorf("over %q it is %q, want %q", binding, got, want)
		}
	}
}

func TestATracedDestinationKeepsItsContract(t *testing.T) {
	t.Parallel()
	r := record(t, otelpostbag.Options{})
	m := membroker.New(membroker.Options{Transactions: true, Ordered: true})
	d := broker.Wrap(m, r.tel.Relay)
	if _, probes := broker.ProberOf(d); !probes || d.Features() != m.Features() {
		t.Errorf("its features are %+v, and it probes: %v", d.Features(), probes)
	}
	to, can := broker.TransactionalOf(d)
	if !can {
		t.Fatal("it has no transactions")
	}
	lane, err := to.OpenLane(t.Context(), broker.LaneName{Box: "outbox", Subscription: "default", Lane: "0"})
	fail(t, err)
	results := make([]broker.Result, 2)
	outcome, err := lane.Commit(t.Context(), deliveries(other, other), []byte("record"), results)
	if outcome != broker.Committed || err != nil || slices.ContainsFunc(results, func(r broker.Result) bool { return r.Outcome != broker.Accepted }) {
		t.Errorf("it is %v (%v), %v", outcome, err, results)
	}
	if span := r.ended("send orders"); parentOf(span.Parent()) != other {
		t.Errorf("the transaction's span is below %v", span.Parent())
	}
}

func TestTheTraceCanBeAnAttributeOfACloudEvent(t *testing.T) {
	t.Parallel()
	r := record(t, otelpostbag.Options{})
	m := membroker.New(membroker.Options{Binding: broker.BindingKafka})
	encoder := format.CloudEvents{Source: "/orders", Mode: format.Binary, Extensions: map[string]string{"traceparent": "traceparent", "tracestate": "tracestate"}}
	got := broker.Publish(t.Context(), broker.Wrap(m, r.tel.Relay, format.Encode(encoder)), deliveries(other))
	if got[0].Outcome != broker.Accepted || m.Taken()[0].Wire.Headers["ce_traceparent"] != other {
		t.Errorf("it is %v", got)
	}
	if parentOf(r.ended("send orders").Parent()) != other {
		t.Error("the call does not belong to the trace")
	}
}
