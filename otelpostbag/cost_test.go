package otelpostbag_test

import (
	"context"
	"testing"

	metricnoop "go.opentelemetry.io/otel/metric/noop"
	sdkmetric "go.opentelemetry.io/otel/sdk/metric"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace/noop"

	"github.com/postbag/postbag"
	"github.com/postbag/postbag/broker"
	"github.com/postbag/postbag/broker/membroker"
	"github.com/postbag/postbag/inbox"
	"github.com/postbag/postbag/otelpostbag"
)

// void is a store that keeps nothing.
type void struct{}

func (void) Append(context.Context, int, string, []postbag.Message) error  { return nil }
func (void) Lock(context.Context, int, string, []string) error             { return nil }
func (void) Cancel(context.Context, int, string, postbag.ID) (bool, error) { return false, nil }
func (void) Wake(string)                                                   {}
func (void) InTx(ctx context.Context, fn func(context.Context, int) error) error {
	return fn(ctx, 1)
}

func publisher(t testing.TB, o postbag.PublisherOptions) *postbag.Publisher[int] {
	t.Helper()
	p, err := postbag.NewPublisher(void{}, o)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func TestNoTelemetryIsTheSameAsNone(t *testing.T) {
	t.Parallel()
	var none *otelpostbag.Telemetry
	if none.Publisher(postbag.PublisherOptions{}).Wrap != nil {
		t.Error("its publisher has a wrapper")
	}
	to := membroker.Null()
	if none.Relay(to) != to {
		t.Error("it puts something before a destination")
	}
	called := 0
	next := func(context.Context, int, *inbox.Message) error { called++; return nil }
	fail(t, otelpostbag.Handler[int](none, otelpostbag.HandlerOptions{})(next)(t.Context(), 0, nil))
	if called != 1 {
		t.Errorf("the handler was called %d times", called)
	}
	stop, err := none.Observe(nil)
	fail(t, err)
	stop()
}

// telemetries are none, one that is switched off, and one that records everything and
// exports nothing.
func telemetries(b *testing.B) map[string]*otelpostbag.Telemetry {
	b.Helper()
	all := map[string]*otelpostbag.Telemetry{"none": nil}
	for name, o := range map[string]otelpostbag.Options{
		"noop": {TracerProvider: noop.NewTracerProvider(), MeterProvider: metricnoop.NewMeterProvider()},
		"sdk": {
			TracerProvider: sdktrace.NewTracerProvider(),
			MeterProvider:  sdkmetric.NewMeterProvider(sdkmetric.WithReader(sdkmetric.NewManualReader())),
		},
	} {
		tel, err := otelpostbag.New(o)
		if err != nil {
			b.Fatal(err)
		}
		all[name] = tel
	}
	return all
}

func BenchmarkPublish(b *testing.B) {
	for name, tel := range telemetries(b) {
		b.Run(name, func(b *testing.B) {
			p := publisher(b, tel.Publisher(postbag.PublisherOptions{}))
			msgs := make([]postbag.Message, 10)
			b.ReportAllocs()
			for b.Loop() {
				if err := p.Publish(b.Context(), 1, msgs...); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkRelay(b *testing.B) {
	for name, tel := range telemetries(b) {
		b.Run(name, func(b *testing.B) {
			parents := make([]string, 100)
			for i := range parents {
				parents[i] = other
			}
			to, sent := broker.Wrap(membroker.Null(), tel.Relay), deliveries(parents...)
			report := func(int, broker.Result) {}
			b.ReportAllocs()
			for b.Loop() {
				to.Publish(b.Context(), sent, report)
			}
		})
	}
}
