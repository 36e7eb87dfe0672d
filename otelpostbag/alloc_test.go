//go:build !race

// The race detector makes allocations of its own.

package otelpostbag_test

import (
	"testing"

	metricnoop "go.opentelemetry.io/otel/metric/noop"
	"go.opentelemetry.io/otel/trace/noop"

	"github.com/postbag/postbag"
	"github.com/postbag/postbag/broker"
	"github.com/postbag/postbag/broker/membroker"
	"github.com/postbag/postbag/otelpostbag"
)

//nolint:paralleltest // testing.AllocsPerRun counts those of the whole process
func TestAPublisherAndARelayWithoutTelemetryAllocateNothingForIt(t *testing.T) {
	var none *otelpostbag.Telemetry
	bare, through := publisher(t, postbag.PublisherOptions{}), publisher(t, none.Publisher(postbag.PublisherOptions{}))
	msgs := make([]postbag.Message, 100)
	calls := func(p *postbag.Publisher[int]) float64 {
		return testing.AllocsPerRun(100, func() {
			if err := p.Publish(t.Context(), 1, msgs...); err != nil {
				t.Fatal(err)
			}
		})
	}
	if a, b := calls(bare), calls(through); a != b || a > 1 {
		t.Errorf("publishing allocates %v times, and with a Telemetry that is nil %v times; want one of each", a, b)
	}
	sent := deliveries(make([]string, 100)...)
	report := func(int, broker.Result) {}
	to := broker.Wrap(membroker.Null(), none.Relay)
	if n := testing.AllocsPerRun(100, func() { to.Publish(t.Context(), sent, report) }); n != 0 {
		t.Errorf("a call allocates %v times, want 0", n)
	}
}

// A call costs the same for one message and for a hundred, but for the traces that it looks
// for.
//
//nolint:paralleltest // as above
func TestWhatACallCostsDoesNotGrowWithMessagesThatHaveNoTrace(t *testing.T) {
	tel, err := otelpostbag.New(otelpostbag.Options{TracerProvider: noop.NewTracerProvider(), MeterProvider: metricnoop.NewMeterProvider()})
	fail(t, err)
	to := broker.Wrap(membroker.Null(), tel.Relay)
	report := func(int, broker.Result) {}
	of := func(n int) float64 {
		sent := deliveries(make([]string, n)...)
		return testing.AllocsPerRun(100, func() { to.Publish(t.Context(), sent, report) })
	}
	if one, many := of(1), of(100); many > one+2 {
		t.Errorf("a call with a message allocates %v times, one with a hundred %v times", one, many)
	}
}
