package main

import (
	"encoding/hex"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	collectormetrics "go.opentelemetry.io/proto/otlp/collector/metrics/v1"
	collectortrace "go.opentelemetry.io/proto/otlp/collector/trace/v1"
	tracepb "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/proto"

	"github.com/postbag/postbag/cmd/postbag/internal/config"
	"github.com/postbag/postbag/cmd/postbag/internal/exit"
)

// collector receives OTLP over HTTP, and keeps what came.
type collector struct {
	mu       sync.Mutex
	spans    []*tracepb.Span
	services map[string]bool
	metrics  map[string]bool
	logins   map[string]bool
}

// collect starts a collector, and names it to whatever this process starts.
func collect(t *testing.T) *collector {
	t.Helper()
	c := &collector{services: map[string]bool{}, metrics: map[string]bool{}, logins: map[string]bool{}}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		c.mu.Lock()
		defer c.mu.Unlock()
		c.logins[r.Header.Get("Api-Key")] = true
		w.Header().Set("Content-Type", "application/x-protobuf")
		switch r.URL.Path {
		case "/v1/traces":
			var in collectortrace.ExportTraceServiceRequest
			if err := proto.Unmarshal(body, &in); err != nil {
				t.Error(err)
			}
			for _, from := range in.GetResourceSpans() {
				for _, a := range from.GetResource().GetAttributes() {
					if a.GetKey() == "service.name" {
						c.services[a.GetValue().GetStringValue()] = true
					}
				}
				for _, s := range from.GetScopeSpans() {
					c.spans = append(c.spans, s.GetSpans()...)
				}
			}
		case "/v1/metrics":
			var in collectormetrics.ExportMetricsServiceRequest
			if err := proto.Unmarshal(body, &in); err != nil {
				t.Error(err)
			}
			for _, from := range in.GetResourceMetrics() {
				for _, s := range from.GetScopeMetrics() {
					for _, m := range s.GetMetrics() {
						c.metrics[m.GetName()] = true
					}
				}
			}
		default:
			t.Errorf("something came at %s", r.URL.Path)
		}
	}))
	t.Cleanup(server.Close)
	t.Setenv("OTEL_EXPORTER_OTLP_ENDPOINT", server.URL)
	return c
}

func TestTheTraceOfAMessageGoesOnThroughTheRelay(t *testing.T) {
	c := collect(t)
	t.Setenv("OTEL_EXPORTER_OTLP_HEADERS", "api-key=hush")
	t.Setenv("OTEL_SERVICE_NAME", "orders-relay")
	at := emptyFile(t)
	cli(t, "migrate", "up", at.flag, at.where, "--box", "outbox").ok()
	const trace, parent = "4bf92f3577b34da6a3ce929d0e0e4736", "00f067aa0ba902b7"
	cliWith(t, "hello", "publish", at.flag, at.where, "--topic", "greetings", "--header", "traceparent=00-"+trace+"-"+parent+"-01").ok()
	out := cli(t, "relay", "-c", write(t, "postbag.yaml", "store: "+at.yaml+"\ndestinations: {out: {stdout: {}}}\notel: {traces: true, metrics: true}\n"), "--drain").ok()
	if !strings.Contains(out.out, trace+"-"+parent) {
		t.Errorf("the destination does not get the trace:\n%s", out.out)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.spans) != 1 || c.spans[0].GetName() != "send greetings" || hex.EncodeToString(c.spans[0].GetTraceId()) != trace || hex.EncodeToString(c.spans[0].GetParentSpanId()) != parent {
		t.Errorf("the spans are %v, want one of the message's trace", c.spans)
	}
	for _, name := range []string{"messaging.client.sent.messages", "messaging.client.operation.duration", "postbag.messages.delivered"} {
		if !c.metrics[name] {
			t.Errorf("there is no metric %s; there are %v", name, c.metrics)
		}
	}
	if !c.services["orders-relay"] || !c.logins["hush"] || len(c.logins) != 1 {
		t.Errorf("the services are %v, the keys %v", c.services, c.logins)
	}
}

func TestNothingIsSentUnlessTheFileSaysSo(t *testing.T) { //nolint:paralleltest // it sets the environment
	c := collect(t)
	for name, yaml := range map[string]string{"nothing": "", "disabled": "otel: {traces: true, metrics: true}\n"} {
		if name == "disabled" {
			t.Setenv("OTEL_SDK_DISABLED", "true")
		}
		at := emptyFile(t)
		cli(t, "migrate", "up", at.flag, at.where, "--box", "outbox").ok()
		cliWith(t, "hello", "publish", at.flag, at.where, "--topic", "greetings").ok()
		cli(t, "relay", "-c", write(t, "postbag.yaml", "store: "+at.yaml+"\ndestinations: {out: {stdout: {}}}\n"+yaml), "--drain").ok()
	}
	if c.mu.Lock(); len(c.logins) > 0 {
		t.Error("something was sent")
	}
	c.mu.Unlock()
}

func TestACollectorThatIsAwayCostsNoMessage(t *testing.T) {
	gone := httptest.NewServer(http.NotFoundHandler())
	gone.Close()
	t.Setenv("OTEL_EXPORTER_OTLP_ENDPOINT", gone.URL)
	at := emptyFile(t)
	cli(t, "migrate", "up", at.flag, at.where, "--box", "outbox").ok()
	cliWith(t, "hello", "publish", at.flag, at.where, "--topic", "greetings").ok()
	out := cli(t, "relay", "-c", write(t, "postbag.yaml", "store: "+at.yaml+"\ndestinations: {out: {stdout: {}}}\notel: {traces: true}\n"), "--drain").ok()
	if !strings.Contains(out.out, "hello") || strings.Count(out.err, "traces or metrics cannot be sent") != 1 {
		t.Errorf("it prints %q and says\n%s", out.out, out.err)
	}
}

func TestAnEnvironmentThatMakesNoTelemetryIsRefused(t *testing.T) {
	at := emptyFile(t)
	file := write(t, "postbag.yaml", "store: "+at.yaml+"\ndestinations: {out: {stdout: {}}}\notel: {traces: true}\n")
	for name, c := range map[string]struct{ variable, value, want string }{
		"a protocol": {"OTEL_EXPORTER_OTLP_PROTOCOL", "grpc", "OTEL_EXPORTER_OTLP_PROTOCOL is not http/protobuf, the only one that postbag speaks"},
		"a place":    {"OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "user:hush@collector:4317", "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT is no URL of HTTP"},
		"a header":   {"OTEL_EXPORTER_OTLP_HEADERS", "Authorization: Bearer hush", "OTEL_EXPORTER_OTLP_HEADERS cannot be read; write name=value"},
		"an escape":  {"OTEL_EXPORTER_OTLP_TRACES_HEADERS", "api-key=hush%", "OTEL_EXPORTER_OTLP_TRACES_HEADERS cannot be read"},
		"a file":     {"OTEL_EXPORTER_OTLP_CERTIFICATE", "no/hush.pem", "OTEL_EXPORTER_OTLP_CERTIFICATE names a file that cannot be read"},
		"a sampler":  {"OTEL_TRACES_SAMPLER", "some", "OTEL_TRACES_SAMPLER is none of always_on"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Setenv(c.variable, c.value)
			out := cli(t, "relay", "-c", file).ends(exit.Usage, c.want)
			if strings.Contains(out.err, "hush") {
				t.Errorf("it quotes the value: %s", out.err)
			}
		})
	}
	t.Setenv("OTEL_TRACES_SAMPLER", "parentbased_traceidratio")
	for value, good := range map[string]bool{"0.1": true, "1": true, "": true, "2": false, "NaN": false, "half": false} {
		t.Setenv("OTEL_TRACES_SAMPLER_ARG", value)
		if err := checkTelemetry(config.OTel{Traces: true}); (err == nil) != good {
			t.Errorf("a part of %q: %v", value, err)
		}
	}
}
