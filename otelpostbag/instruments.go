package otelpostbag

import (
	"context"
	"errors"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"
)

// Names of the metrics of OpenTelemetry's conventions for messaging.
const (
	operationDuration = "messaging.client.operation.duration"
	processDuration   = "messaging.process.duration"
	sentMessages      = "messaging.client.sent.messages"
	consumedMessages  = "messaging.client.consumed.messages"
)

// instruments measure operations.
type instruments struct {
	operations, processed metric.Float64Histogram
	sent, consumed        metric.Int64Counter
}

// buckets are those that the conventions name, in seconds.
var buckets = metric.WithExplicitBucketBoundaries(0.005, 0.01, 0.025, 0.05, 0.075, 0.1, 0.25, 0.5, 0.75, 1, 2.5, 5, 7.5, 10)

func newInstruments(m metric.Meter) (all instruments, err error) {
	var errs [4]error
	all.operations, errs[0] = m.Float64Histogram(operationDuration, buckets, metric.WithUnit("s"),
		metric.WithDescription("How long publishing, and calls of a relay, took."))
	all.processed, errs[1] = m.Float64Histogram(processDuration, buckets, metric.WithUnit("s"),
		metric.WithDescription("How long handlers took for a message."))
	all.sent, errs[2] = m.Int64Counter(sentMessages, metric.WithUnit("{message}"),
		metric.WithDescription("Messages that a relay sent, repeats among them, by outcome."))
	all.consumed, errs[3] = m.Int64Counter(consumedMessages, metric.WithUnit("{message}"),
		metric.WithDescription("Messages that were given to a handler, repeats among them."))
	return all, errors.Join(errs[:]...)
}

// since records the time since begun.
func since(ctx context.Context, in metric.Float64Histogram, begun time.Time, of []attribute.KeyValue) {
	in.Record(ctx, time.Since(begun).Seconds(), metric.WithAttributeSet(attribute.NewSet(of...)))
}

// add adds n to a counter.
func add(ctx context.Context, in metric.Int64Counter, n int64, of []attribute.KeyValue) {
	in.Add(ctx, n, metric.WithAttributeSet(attribute.NewSet(of...)))
}
