package main

import (
	"context"
	"errors"
	"log/slog"
	"net/url"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/go-logr/logr"
	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/exporters/otlp/otlpmetric/otlpmetrichttp"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracehttp"
	metricnoop "go.opentelemetry.io/otel/metric/noop"
	sdkmetric "go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/resource"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	tracenoop "go.opentelemetry.io/otel/trace/noop"

	"github.com/postbag/postbag/broker"
	"github.com/postbag/postbag/cmd/postbag/internal/config"
	"github.com/postbag/postbag/cmd/postbag/internal/exit"
	"github.com/postbag/postbag/otelpostbag"
	"github.com/postbag/postbag/relay"
)

// telemetry is what the relay sends to a collector of OpenTelemetry. A nil one sends nothing.
type telemetry struct {
	*otelpostbag.Telemetry

	metrics bool
	faults  *telemetryFaults
	ends    []func(context.Context) error
}

// openTelemetry makes what the file asks for. The environment says the rest: the SDK and its
// exporters read it. What they would only complain of later is refused now.
func openTelemetry(ctx context.Context, o config.OTel, logger *slog.Logger) (_ *telemetry, err error) {
	if off, _ := strconv.ParseBool(os.Getenv("OTEL_SDK_DISABLED")); off || !o.Traces && !o.Metrics {
		return nil, nil //nolint:nilnil // off is a state of its own
	}
	if err := checkTelemetry(o); err != nil {
		return nil, exit.With(exit.Usage, err)
	}
	t := &telemetry{metrics: o.Metrics, faults: &telemetryFaults{logger: logger}}
	otel.SetErrorHandler(t.faults) // the exporters know no other way
	otel.SetLogger(logr.Discard()) // it quotes what it cannot read, such as a header with a key
	who, err := resource.New(ctx, resource.WithTelemetrySDK(), resource.WithHost(),
		resource.WithAttributes(attribute.String("service.name", "postbag"), attribute.String("service.version", thisBuild().Version)),
		resource.WithFromEnv())
	if err != nil {
		return nil, exit.With(exit.Usage, errors.Join(errors.New("otel: OTEL_RESOURCE_ATTRIBUTES cannot be read; write key=value,key=value"), err))
	}
	to := otelpostbag.Options{
		TracerProvider: tracenoop.NewTracerProvider(), MeterProvider: metricnoop.NewMeterProvider(), MessageIDs: o.MessageIDs, OnFault: t.faults.Handle,
	}
	if o.Traces {
		spans, err := otlptracehttp.New(ctx)
		if err != nil {
			return nil, exit.With(exit.Usage, err)
		}
		tracers := sdktrace.NewTracerProvider(sdktrace.WithBatcher(spans), sdktrace.WithResource(who))
		to.TracerProvider, t.ends = tracers, append(t.ends, tracers.Shutdown)
	}
	if o.Metrics {
		figures, err := otlpmetrichttp.New(ctx)
		if err != nil {
			t.close()
			return nil, exit.With(exit.Usage, err)
		}
		meters := sdkmetric.NewMeterProvider(sdkmetric.WithReader(sdkmetric.NewPeriodicReader(figures)), sdkmetric.WithResource(who))
		to.MeterProvider, t.ends = meters, append(t.ends, meters.Shutdown)
	}
	if t.Telemetry, err = otelpostbag.New(to); err != nil {
		t.close()
		return nil, exit.With(exit.Failed, err)
	}
	return t, nil
}

// close sends what is left. A collector that is away is not waited for.
func (t *telemetry) close() {
	if t == nil {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), closeTimeout)
	defer cancel()
	for _, end := range t.ends {
		if err := end(ctx); err != nil {
			t.faults.Handle(err)
		}
	}
}

// trace puts the middleware that makes spans before all destinations.
func (t *telemetry) trace(all map[string][]relay.Subscription) {
	if t == nil {
		return
	}
	for _, subscriptions := range all {
		for i := range subscriptions {
			subscriptions[i].Use = append([]broker.Middleware{t.Relay}, subscriptions[i].Use...)
		}
	}
}

// traced returns destinations whose calls are traced.
func (t *telemetry) traced(all map[string]broker.Destination) map[string]broker.Destination {
	for name := range all {
		if t != nil {
			all[name] = broker.Wrap(all[name], t.Relay)
		}
	}
	return all
}

// observe shows what the relay of a store counts.
func (t *telemetry) observe(w *worker) error {
	if t == nil || !t.metrics || len(w.subscriptions) == 0 {
		return nil
	}
	var of []attribute.KeyValue
	if w.name != "" {
		of = append(of, attribute.String("postbag.store", w.name))
	}
	_, err := t.Observe(w.stats, of...)
	return err
}

// telemetryFaults logs what OpenTelemetry reports, once a minute at most.
type telemetryFaults struct {
	logger *slog.Logger

	mu   sync.Mutex
	said time.Time
}

// Handle implements otel.ErrorHandler.
func (f *telemetryFaults) Handle(err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if time.Since(f.said) < time.Minute {
		return
	}
	f.said = time.Now()
	f.logger.Warn("postbag: traces or metrics cannot be sent; messages go on", "error", err)
}

// samplers are those of OTEL_TRACES_SAMPLER that the SDK knows.
var samplers = []string{
	"always_on", "always_off", "traceidratio", "parentbased_always_on", "parentbased_always_off", "parentbased_traceidratio",
}

// checkTelemetry reports everything that is wrong with the environment. It quotes no value: one may hold a password.
func checkTelemetry(o config.OTel) error {
	errs := checkExporter("")
	if o.Traces {
		errs = append(errs, checkExporter("TRACES_")...)
	}
	if o.Metrics {
		errs = append(errs, checkExporter("METRICS_")...)
	}
	return errors.Join(append(errs, checkSampler()...)...)
}

// checkExporter reports what is wrong with the variables for traces, for metrics, or for both.
func checkExporter(kind string) (errs []error) {
	variable := func(name string) (string, string) {
		name = "OTEL_EXPORTER_OTLP_" + kind + name
		return "otel: " + name, os.Getenv(name)
	}
	if name, p := variable("PROTOCOL"); p != "" && p != "http/protobuf" {
		errs = append(errs, errors.New(name+" is not http/protobuf, the only one that postbag speaks; set that, and the collector's port for HTTP, usually 4318"))
	}
	if name, text := variable("ENDPOINT"); text != "" {
		if at, err := url.Parse(text); err != nil || at.Host == "" || at.Scheme != "http" && at.Scheme != "https" {
			errs = append(errs, errors.New(name+" is no URL of HTTP; write http://HOST:4318 or https://HOST"))
		}
	}
	if name, text := variable("HEADERS"); !areHeaders(text) {
		errs = append(errs, errors.New(name+" cannot be read; write name=value,name=value, with %20 for a space and %25 for a percent sign"))
	}
	for _, part := range []string{"CERTIFICATE", "CLIENT_CERTIFICATE", "CLIENT_KEY"} {
		name, file := variable(part)
		if file == "" {
			continue
		}
		if _, err := os.ReadFile(file); err != nil {
			errs = append(errs, errors.New(name+" names a file that cannot be read; correct it"))
		}
	}
	return errs
}

// areHeaders says whether the SDK can read a list of headers. It would print what it cannot.
func areHeaders(text string) bool {
	if strings.TrimSpace(text) == "" {
		return true
	}
	for one := range strings.SplitSeq(text, ",") {
		key, value, found := strings.Cut(one, "=")
		key = strings.TrimSpace(key)
		if _, err := url.PathUnescape(value); !found || err != nil || key == "" || strings.ContainsAny(key, " :\t") {
			return false
		}
	}
	return true
}

func checkSampler() (errs []error) {
	sampler := strings.ToLower(strings.TrimSpace(os.Getenv("OTEL_TRACES_SAMPLER")))
	if sampler != "" && !slices.Contains(samplers, sampler) {
		errs = append(errs, errors.New("otel: OTEL_TRACES_SAMPLER is none of "+strings.Join(samplers, ", ")))
	}
	if text := strings.TrimSpace(os.Getenv("OTEL_TRACES_SAMPLER_ARG")); text != "" && strings.HasSuffix(sampler, "traceidratio") {
		if part, err := strconv.ParseFloat(text, 64); err != nil || !(part >= 0 && part <= 1) {
			errs = append(errs, errors.New("otel: OTEL_TRACES_SAMPLER_ARG is no number between 0 and 1; write which part of the traces is kept, such as 0.1"))
		}
	}
	return errs
}
