package otelpostbag_test

import (
	"context"
	"slices"
	"sync"
	"testing"

	"go.opentelemetry.io/otel/attribute"
	sdkmetric "go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"
	"go.opentelemetry.io/otel/trace"

	"github.com/postbag/postbag"
	"github.com/postbag/postbag/broker"
	"github.com/postbag/postbag/broker/membroker"
	"github.com/postbag/postbag/otelpostbag"
	"github.com/postbag/postbag/store/memstore"
)

// recorder has the spans and metrics of a test.
type recorder struct {
	t       *testing.T
	tel     *otelpostbag.Telemetry
	spans   *tracetest.SpanRecorder
	tracers *sdktrace.TracerProvider
	metrics *sdkmetric.ManualReader
}

func record(t *testing.T, o otelpostbag.Options) *recorder {
	t.Helper()
	r := &recorder{t: t, spans: tracetest.NewSpanRecorder(), metrics: sdkmetric.NewManualReader()}
	r.tracers = sdktrace.NewTracerProvider(sdktrace.WithSpanProcessor(r.spans))
	if o.TracerProvider == nil {
		o.TracerProvider = r.tracers
	}
	o.MeterProvider = sdkmetric.NewMeterProvider(sdkmetric.WithReader(r.metrics))
	tel, err := otelpostbag.New(o)
	fail(t, err)
	r.tel = tel
	return r
}

// start begins a trace of the test's own.
func (r *recorder) start(name string) (context.Context, trace.SpanContext) {
	ctx, span := r.tracers.Tracer("test").Start(r.t.Context(), name)
	r.t.Cleanup(func() { span.End() })
	return ctx, span.SpanContext()
}

// ended returns the one span of a name that has ended.
func (r *recorder) ended(name string) sdktrace.ReadOnlySpan {
	r.t.Helper()
	var found []sdktrace.ReadOnlySpan
	var names []string
	for _, s := range r.spans.Ended() {
		names = append(names, s.Name())
		if s.Name() == name {
			found = append(found, s)
		}
	}
	if len(found) != 1 {
		r.t.Fatalf("there are %d spans %q, want 1; all are %q", len(found), name, names)
	}
	return found[0]
}

// value returns what a metric counted, with attributes among which are those of of.
func (r *recorder) value(name string, of ...attribute.KeyValue) (sum int64) {
	r.t.Helper()
	var all metricdata.ResourceMetrics
	fail(r.t, r.metrics.Collect(r.t.Context(), &all))
	for _, s := range all.ScopeMetrics {
		for _, m := range s.Metrics {
			if m.Name == name {
				sum += total(m.Data, of)
			}
		}
	}
	return sum
}

func total(data metricdata.Aggregation, of []attribute.KeyValue) (sum int64) {
	has := func(set attribute.Set) bool {
		return !slices.ContainsFunc(of, func(a attribute.KeyValue) bool { v, there := set.Value(a.Key); return !there || v != a.Value })
	}
	switch data := data.(type) {
	case metricdata.Sum[int64]:
		for _, p := range data.DataPoints {
			if has(p.Attributes) {
				sum += p.Value
			}
		}
	case metricdata.Sum[float64]:
		for _, p := range data.DataPoints {
			if has(p.Attributes) {
				sum += int64(p.Value)
			}
		}
	case metricdata.Gauge[int64]:
		for _, p := range data.DataPoints {
			if has(p.Attributes) {
				sum += p.Value
			}
		}
	case metricdata.Histogram[float64]:
		for _, p := range data.DataPoints {
			if has(p.Attributes) {
				sum += int64(p.Count)
			}
		}
	}
	return sum
}

// attributed returns an attribute of a span as text.
func attributed(s sdktrace.ReadOnlySpan, key attribute.Key) string {
	for _, a := range s.Attributes() {
		if a.Key == key {
			return a.Value.String()
		}
	}
	return ""
}

// destination keeps what it gets, and answers all alike. With panics it panics.
type destination struct {
	broker.Destination

	answer broker.Result
	panics bool

	mu  sync.Mutex
	got []broker.Delivery
}

func recording(answer broker.Result) *destination {
	return &destination{Destination: membroker.Null(), answer: answer}
}

func (d *destination) Publish(_ context.Context, msgs []broker.Delivery, report func(i int, r broker.Result)) {
	if d.panics {
		panic("secret")
	}
	d.mu.Lock()
	d.got = append(d.got, msgs...)
	d.mu.Unlock()
	for i := range msgs {
		report(i, d.answer)
	}
}

func (d *destination) taken() []broker.Delivery {
	d.mu.Lock()
	defer d.mu.Unlock()
	return slices.Clone(d.got)
}

// publish publishes messages in one call, and returns them as the box has them.
func publish(ctx context.Context, t *testing.T, o postbag.PublisherOptions, msgs ...postbag.Message) ([]postbag.Message, error) {
	t.Helper()
	s := &keeping{Store: database(t)}
	pub, err := postbag.NewPublisher(s, o)
	fail(t, err)
	err = pub.InTx(ctx, func(ctx context.Context, tx *memstore.Tx) error { return pub.Publish(ctx, tx, msgs...) })
	return s.kept, err
}

// keeping is a store that keeps what it was given.
type keeping struct {
	*memstore.Store

	kept []postbag.Message
}

func (k *keeping) Append(ctx context.Context, tx *memstore.Tx, box string, msgs []postbag.Message) error {
	k.kept = append(k.kept, msgs...)
	return k.Store.Append(ctx, tx, box, msgs)
}
