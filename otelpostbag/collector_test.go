package otelpostbag_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"

	"go.opentelemetry.io/otel/exporters/otlp/otlpmetric/otlpmetrichttp"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracehttp"
	sdkmetric "go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/resource"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	semconv "go.opentelemetry.io/otel/semconv/v1.43.0"
	collectormetrics "go.opentelemetry.io/proto/otlp/collector/metrics/v1"
	collectortrace "go.opentelemetry.io/proto/otlp/collector/trace/v1"
	commonpb "go.opentelemetry.io/proto/otlp/common/v1"
	metricspb "go.opentelemetry.io/proto/otlp/metrics/v1"
	tracepb "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/proto"

	"github.com/postbag/postbag/otelpostbag"
)

// collector receives OTLP over HTTP, and keeps what came.
type collector struct {
	server *httptest.Server

	mu      sync.Mutex
	spans   map[string]*tracepb.Span // by service and name
	repeats []string
	metrics []*metricspb.Metric
}

func collect(t *testing.T) *collector {
	t.Helper()
	c := &collector{spans: map[string]*tracepb.Span{}}
	mux := http.NewServeMux()
	mux.HandleFunc("POST /v1/traces", func(w http.ResponseWriter, r *http.Request) {
		var in collectortrace.ExportTraceServiceRequest
		if !c.read(t, w, r, &in) {
			return
		}
		for _, from := range in.GetResourceSpans() {
			service := text(from.GetResource().GetAttributes(), "service.name")
			for _, s := range from.GetScopeSpans() {
				c.took(service, s.GetSpans())
			}
		}
	})
	mux.HandleFunc("POST /v1/metrics", func(w http.ResponseWriter, r *http.Request) {
		var in collectormetrics.ExportMetricsServiceRequest
		if !c.read(t, w, r, &in) {
			return
		}
		c.mu.Lock()
		defer c.mu.Unlock()
		for _, from := range in.GetResourceMetrics() {
			for _, s := range from.GetScopeMetrics() {
				c.metrics = append(c.metrics, s.GetMetrics()...)
			}
		}
	})
	c.server = httptest.NewServer(mux)
	t.Cleanup(c.server.Close)
	return c
}

func (c *collector) read(t *testing.T, w http.ResponseWriter, r *http.Request, into proto.Message) bool {
	t.Helper()
	body, err := io.ReadAll(r.Body)
	if err == nil {
		err = proto.Unmarshal(body, into)
	}
	if err != nil {
		t.Errorf("what came at %s cannot be read: %v", r.URL.Path, err)
		w.WriteHeader(http.StatusBadRequest)
		return false
	}
	w.Header().Set("Content-Type", "application/x-protobuf")
	return true
}

func (c *collector) took(service string, spans []*tracepb.Span) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, s := range spans {
		name := service + ": " + s.GetName()
		if c.spans[name] != nil {
			c.repeats = append(c.repeats, name)
		}
		c.spans[name] = s
	}
}

// service returns the telemetry of one program, which exports to the collector, and a
// function that sends what is left.
func (c *collector) service(t *testing.T, name string, o otelpostbag.Options) (*otelpostbag.Telemetry, *sdktrace.TracerProvider, func()) {
	t.Helper()
	who := resource.NewSchemaless(semconv.ServiceName(name))
	spans, err := otlptracehttp.New(t.Context(), otlptracehttp.WithEndpointURL(c.server.URL+"/v1/traces"))
	if err != nil {
		t.Fatal(err)
	}
	metrics, err := otlpmetrichttp.New(t.Context(), otlpmetrichttp.WithEndpointURL(c.server.URL+"/v1/metrics"))
	if err != nil {
		t.Fatal(err)
	}
	tracers := sdktrace.NewTracerProvider(sdktrace.WithBatcher(spans), sdktrace.WithResource(who))
	meters := sdkmetric.NewMeterProvider(sdkmetric.WithReader(sdkmetric.NewPeriodicReader(metrics)), sdkmetric.WithResource(who))
	o.TracerProvider, o.MeterProvider = tracers, meters
	tel, err := otelpostbag.New(o)
	if err != nil {
		t.Fatal(err)
	}
	return tel, tracers, func() {
		t.Helper()
		if err := tracers.Shutdown(t.Context()); err != nil {
			t.Error(err)
		}
		if err := meters.Shutdown(t.Context()); err != nil {
			t.Error(err)
		}
	}
}

// span returns a span by service and name.
func (c *collector) span(t *testing.T, name string) *tracepb.Span {
	t.Helper()
	c.mu.Lock()
	defer c.mu.Unlock()
	s := c.spans[name]
	if s == nil {
		t.Fatalf("there is no span %q; there are %v", name, keysOf(c.spans))
	}
	return s
}

func text(all []*commonpb.KeyValue, key string) string {
	for _, a := range all {
		if a.GetKey() == key {
			return a.GetValue().GetStringValue()
		}
	}
	return ""
}
