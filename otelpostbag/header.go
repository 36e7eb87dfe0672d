package otelpostbag

import (
	"context"
	"encoding/json"
	"errors"
	"maps"
	"slices"
	"strings"
	"unicode/utf8"

	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/trace"

	"github.com/postbag/postbag"
)

// carrier is how a propagator sees the headers of a message. Some transports change the
// case of names, so it finds them in any. It takes only what a box can hold.
type carrier map[string]string

var _ propagation.TextMapCarrier = carrier(nil)

func (c carrier) Get(name string) string {
	if value, there := c[name]; there {
		return value
	}
	for own, value := range c {
		if strings.EqualFold(own, name) {
			return value
		}
	}
	return ""
}

func (c carrier) Set(name, value string) {
	if name != "" && value != "" && isText(name) && isText(value) && !reserved(name) {
		c[name] = value
	}
}

func (c carrier) Keys() []string { return slices.Collect(maps.Keys(c)) }

func isText(s string) bool { return utf8.ValidString(s) && !strings.Contains(s, "\x00") }

// reserved says whether relays alone write headers of this name.
func reserved(name string) bool {
	const relays = "Postbag-"
	return len(name) >= len(relays) && strings.EqualFold(name[:len(relays)], relays)
}

// carries says whether a message has headers of a trace already.
func (t *Telemetry) carries(headers map[string]string) bool {
	return len(headers) > 0 && slices.ContainsFunc(t.fields, func(name string) bool { return carrier(headers).Get(name) != "" })
}

// extract returns the context of the message's trace. It is not valid if there is none.
func (t *Telemetry) extract(headers map[string]string) trace.SpanContext {
	if !t.carries(headers) {
		return trace.SpanContext{}
	}
	return trace.SpanContextFromContext(t.o.Propagator.Extract(context.Background(), carrier(headers)))
}

// inject writes the trace of ctx into messages that have no valid one of their own. It replaces
// header maps unless they are ours.
func (t *Telemetry) inject(ctx context.Context, msgs []postbag.Message, ours bool) {
	own := carrier{}
	t.o.Propagator.Inject(ctx, own)
	if len(own) == 0 {
		return
	}
	for i := range msgs {
		m := &msgs[i]
		switch {
		case t.extract(m.Headers).IsValid():
			continue
		case !fit(m.Headers, own):
			t.fault(errors.New("otelpostbag: a message has no room for the headers of its trace, and goes on without; give it fewer or shorter headers, or carry less baggage"))
			continue
		case !ours || m.Headers == nil:
			headers := make(map[string]string, len(m.Headers)+len(own))
			maps.Copy(headers, m.Headers)
			m.Headers = headers
		}
		t.join(m.Headers, own)
	}
}

// join writes the trace into headers that have no whole one, and removes what they have of
// one, which would be read with it. Baggage that they have is theirs, and stays.
func (t *Telemetry) join(headers map[string]string, own carrier) {
	const baggage = "baggage" // W3C Baggage, section 3.1
	kept := carrier(headers).Get(baggage) != ""
	for _, field := range t.fields {
		if field != baggage || !kept {
			maps.DeleteFunc(headers, func(name, _ string) bool { return strings.EqualFold(name, field) })
		}
	}
	for name, value := range own {
		if name != baggage || !kept {
			headers[name] = value
		}
	}
}

// longestEscape is how many bytes one byte of a text may take in JSON.
const longestEscape = 6

// fit says whether a box takes the headers of a message with those of its trace.
func fit(headers map[string]string, own carrier) bool {
	size := 1
	for _, part := range []map[string]string{headers, own} {
		for name, value := range part {
			size += len(name) + len(value) + len(`"":"",`)
		}
	}
	if size <= postbag.MaxHeader/longestEscape {
		return true
	}
	all := make(map[string]string, len(headers)+len(own))
	maps.Copy(all, headers)
	maps.Copy(all, own)
	var b strings.Builder
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	return e.Encode(all) == nil && b.Len()-len("\n") <= postbag.MaxHeader
}
