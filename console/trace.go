package console

import (
	"errors"
	"net/url"
	"regexp"
	"strings"
)

// traceparent is the form of that header of W3C Trace Context: version, trace, span, flags.
var traceparent = regexp.MustCompile(`^[0-9a-f]{2}-([0-9a-f]{32})-([0-9a-f]{16})-[0-9a-f]{2}(?:-.*)?$`)

// What stands in a template of the address of a trace.
const traceID, spanID = "{trace_id}", "{span_id}"

// validTraceLink says what is wrong with a template of the address of a trace. Empty: there is none, which is right.
func validTraceLink(template string) error {
	if template == "" {
		return nil
	}
	u, err := url.Parse(traceAddress(template, strings.Repeat("a", 32), strings.Repeat("b", 16)))
	if err != nil || u.Host == "" || u.User != nil || u.Scheme != "https" && u.Scheme != "http" || !strings.Contains(template, traceID) {
		return errors.New("console: TraceLink is no address with {trace_id} in it; write one such as https://jaeger.example/trace/{trace_id}")
	}
	return nil
}

func traceAddress(template, trace, span string) string {
	return strings.NewReplacer(traceID, trace, spanID, span).Replace(template)
}

// traceOf returns the address of the trace that headers name. Empty: they name none, or there is no template.
func traceOf(template string, headers map[string]string) string {
	if template == "" {
		return ""
	}
	for name, value := range headers {
		if found := traceparent.FindStringSubmatch(strings.TrimSpace(value)); found != nil && strings.EqualFold(name, "traceparent") && strings.Trim(found[1], "0") != "" {
			return traceAddress(template, found[1], found[2])
		}
	}
	return ""
}
