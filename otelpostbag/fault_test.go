package otelpostbag_test

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/metric"
	metricnoop "go.opentelemetry.io/otel/metric/noop"
	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/trace"
	"go.opentelemetry.io/otel/trace/noop"

	"github.com/postbag/postbag"
	"github.com/postbag/postbag/broker"
	"github.com/postbag/postbag/otelpostbag"
	"github.com/postbag/postbag/relay"
)

// These panic in every place where messages are.
type (
	badTracers struct {
		noop.TracerProvider
		late bool // only its spans panic
	}
	badTracer struct {
		noop.Tracer
		late bool
	}
	badSpan       struct{ noop.Span }
	badPropagator struct{ propagation.TraceContext }
	badMeters     struct{ metricnoop.MeterProvider }
	badMeter      struct{ metricnoop.Meter }
	badCounter    struct{ metricnoop.Int64Counter }
	badHistogram  struct{ metricnoop.Float64Histogram }
)

func (p badTracers) Tracer(string, ...trace.TracerOption) trace.Tracer {
	return badTracer{late: p.late}
}

func (t badTracer) Start(ctx context.Context, _ string, _ ...trace.SpanStartOption) (context.Context, trace.Span) {
	if !t.late {
		panic("bad")
	}
	return ctx, badSpan{}
}

func (badSpan) End(...trace.SpanEndOption)                         { panic("bad") }
func (badSpan) SetStatus(codes.Code, string)                       { panic("bad") }
func (badSpan) SetAttributes(...attribute.KeyValue)                { panic("bad") }
func (badSpan) SpanContext() trace.SpanContext                     { panic("bad") }
func (badMeters) Meter(string, ...metric.MeterOption) metric.Meter { return badMeter{} }

func (badMeter) Int64Counter(string, ...metric.Int64CounterOption) (metric.Int64Counter, error) {
	return badCounter{}, nil
}

func (badMeter) Float64Histogram(string, ...metric.Float64HistogramOption) (metric.Float64Histogram, error) {
	return badHistogram{}, nil
}

func (badMeter) RegisterCallback(metric.Callback, ...metric.Observable) (metric.Registration, error) {
	panic("bad")
}

func (badCounter) Add(context.Context, int64, ...metric.AddOption)           { panic("bad") }
func (badHistogram) Record(context.Context, float64, ...metric.RecordOption) { panic("bad") }

func (badPropagator) Inject(context.Context, propagation.TextMapCarrier) { panic("bad") }
func (badPropagator) Extract(context.Context, propagation.TextMapCarrier) context.Context {
	panic("bad")
}

func TestAPanicInOpenTelemetryChangesNothing(t *testing.T) {
	t.Parallel()
	for name, o := range map[string]otelpostbag.Options{
		"a tracer":     {TracerProvider: badTracers{}},
		"a span":       {TracerProvider: badTracers{late: true}},
		"a propagator": {Propagator: badPropagator{}},
		"a meter":      {MeterProvider: badMeters{}},
		"the template": {Destination: func(string) string { panic("bad") }},
		"all of them":  {TracerProvider: badTracers{}, Propagator: badPropagator{}, MeterProvider: badMeters{}},
		"what is told": {TracerProvider: badTracers{}, OnFault: func(error) { panic("bad") }},
	} {
		var mu sync.Mutex
		var told []error
		if o.OnFault == nil {
			o.OnFault = func(err error) {
				mu.Lock()
				defer mu.Unlock()
				told = append(told, err)
			}
		}
		tel, err := otelpostbag.New(o)
		fail(t, err)
		ctx := trace.ContextWithRemoteSpanContext(t.Context(), trace.SpanContext{})
		msgs, err := publish(ctx, t, tel.Publisher(postbag.PublisherOptions{}), postbag.Message{Payload: []byte("p")}, postbag.Message{})
		if err != nil || len(msgs) != 2 {
			t.Errorf("%s: %d messages are published: %v", name, len(msgs), err)
		}
		for _, outcome := range []broker.Outcome{broker.Accepted, broker.Rejected} {
			to := recording(broker.Result{Outcome: outcome, Err: errors.New("reason")})
			results := broker.Publish(ctx, broker.Wrap(to, tel.Relay), deliveries(other, ""))
			if len(to.taken()) != 2 || results[0].Outcome != outcome || results[1].Outcome != outcome {
				t.Errorf("%s: %d messages are sent: %v", name, len(to.taken()), results)
			}
		}
		bad := errors.New("bad")
		for _, want := range []error{nil, bad} {
			called := 0
			r := &recorder{t: t, tel: tel}
			got := handle(ctx, r, otelpostbag.HandlerOptions{}, map[string]string{"traceparent": other}, func(context.Context) error { called++; return want })
			if !errors.Is(got, want) || called != 1 {
				t.Errorf("%s: a handler is called %d times and returns %v, want %v", name, called, got, want)
			}
		}
		if name != "what is told" && (len(told) == 0 || !strings.Contains(told[0].Error(), "panicked (string)")) {
			t.Errorf("%s: OnFault heard %v", name, told)
		}
	}
}

func TestASpanThatPanicsTakesNothingFromTheMetrics(t *testing.T) {
	t.Parallel()
	r := record(t, otelpostbag.Options{TracerProvider: badTracers{late: true}})
	_, err := publish(t.Context(), t, r.tel.Publisher(postbag.PublisherOptions{}), postbag.Message{})
	fail(t, err)
	broker.Publish(t.Context(), broker.Wrap(recording(broker.Result{Outcome: broker.Rejected}), r.tel.Relay), deliveries(""))
	fail(t, handle(t.Context(), r, otelpostbag.HandlerOptions{}, nil, nothing))
	for name, want := range map[string]int64{
		"messaging.client.operation.duration": 2, "messaging.client.sent.messages": 1,
		"messaging.process.duration": 1, "messaging.client.consumed.messages": 1,
	} {
		if got := r.value(name); got != want {
			t.Errorf("%s is %d, want %d", name, got, want)
		}
	}
}

// nilTracers give nothing.
type nilTracers struct{ noop.TracerProvider }

func (*nilTracers) Tracer(string, ...trace.TracerOption) trace.Tracer { return nil }

// refusing is a meter that takes no instruments.
type refusing struct{ badMeters }

type refusingMeter struct{ metricnoop.Meter }

func (refusing) Meter(string, ...metric.MeterOption) metric.Meter { return refusingMeter{} }

func (refusingMeter) Int64Counter(string, ...metric.Int64CounterOption) (metric.Int64Counter, error) {
	return nil, errors.New("no counters")
}

func (refusingMeter) Int64ObservableGauge(string, ...metric.Int64ObservableGaugeOption) (metric.Int64ObservableGauge, error) {
	return nil, errors.New("no gauges")
}

func TestNewRefusesProvidersThatDoNotWork(t *testing.T) {
	t.Parallel()
	var none *badPropagator
	for want, o := range map[string]otelpostbag.Options{
		"no tracer or no meter": {TracerProvider: &nilTracers{}},
		"no counters":           {MeterProvider: refusing{}},
		"nil pointers":          {Propagator: none},
	} {
		if tel, err := otelpostbag.New(o); tel != nil || err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("the error is %v, want one with %q", err, want)
		}
	}
}

func TestObserveRefusesWhatDoesNotWork(t *testing.T) {
	t.Parallel()
	stats := func() relay.Stats { return relay.Stats{} }
	for want, c := range map[string]struct {
		meters metric.MeterProvider
		stats  func() relay.Stats
	}{
		"the function is nil": {metricnoop.NewMeterProvider(), nil},
		"the meter panicked":  {badMeters{}, stats},
	} {
		tel, err := otelpostbag.New(otelpostbag.Options{MeterProvider: c.meters})
		fail(t, err)
		if _, err := tel.Observe(c.stats); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("the error is %v, want one with %q", err, want)
		}
	}
}
