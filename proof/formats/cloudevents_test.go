package formats_test

import (
	"bytes"
	"net/url"
	"testing"
	"time"

	"github.com/cloudevents/sdk-go/v2/binding"
	"github.com/cloudevents/sdk-go/v2/event"

	"github.com/postbag/postbag"
	"github.com/postbag/postbag/broker"
	"github.com/postbag/postbag/format"
)

// transport sends messages through a real destination and reads them back with the
// SDK.
type transport struct {
	dest  broker.Destination
	topic string
	// read returns what arrived, in order. The channel has room for all.
	read <-chan binding.Message
	// undecoded: the SDK gives the values of binary mode as they stand on the wire,
	// although the binding wants them decoded.
	undecoded bool
	// typeless: an empty event has the destination's content type all the same.
	typeless bool
}

// send sends m and returns the event that the SDK reads.
func (tr transport) send(t *testing.T, encoder broker.Encoder, m broker.Delivery) (*event.Event, binding.Encoding) {
	t.Helper()
	tr.publish(t, encoder, m)
	select {
	case got := <-tr.read:
		e, err := binding.ToEvent(t.Context(), got)
		if err != nil {
			t.Fatalf("the SDK cannot read it: %v", err)
		}
		if err := e.Validate(); err != nil {
			t.Errorf("the SDK finds it invalid: %v", err)
		}
		return e, got.ReadEncoding()
	case <-time.After(time.Minute):
		t.Fatal("nothing arrived in a minute")
	}
	panic("unreachable")
}

func (tr transport) publish(t *testing.T, encoder broker.Encoder, m broker.Delivery) {
	t.Helper()
	m.Topic = tr.topic
	results := broker.Publish(t.Context(), broker.Wrap(tr.dest, format.Encode(encoder)), []broker.Delivery{m})
	if results[0].Outcome != broker.Accepted {
		t.Fatalf("it is %v (%v)", results[0].Outcome, results[0].Err)
	}
}

var stored = time.Date(2026, 3, 14, 15, 9, 26, 535_897_000, time.UTC)

// sent is what is sent over every transport.
func sent() map[string]broker.Delivery {
	plain := func(change func(m *broker.Delivery)) broker.Delivery {
		m := broker.Delivery{
			Message: postbag.Message{
				ID: postbag.NewID(), Key: "customer-7", Type: "order.created", Payload: []byte(`{"n": 1}`),
				Headers: map[string]string{"ce-tenant": "acme"},
			},
			Box: "outbox", Seq: 1, At: stored, Attempt: 1,
		}
		change(&m)
		return m
	}
	return map[string]broker.Delivery{
		"json": plain(func(*broker.Delivery) {}),
		"odd texts": plain(func(m *broker.Delivery) {
			m.Key, m.Type, m.Headers["ce-tenant"] = "größe 50% \"x\"", "a b", "🙂 é"
		}),
		"text": plain(func(m *broker.Delivery) {
			m.Payload, m.Headers["Content-Type"] = []byte("grün\n"), "text/plain; charset=utf-8"
		}),
		"bytes": plain(func(m *broker.Delivery) {
			m.Payload, m.Headers["Content-Type"] = []byte{0, 255, 10}, "application/octet-stream"
		}),
		"not JSON":      plain(func(m *broker.Delivery) { m.Payload = []byte("{") }),
		"no payload":    plain(func(m *broker.Delivery) { m.Payload = nil }),
		"bare":          plain(func(m *broker.Delivery) { m.Key, m.Headers, m.At = "", nil, time.Time{} }),
		"other headers": plain(func(m *broker.Delivery) { m.Headers = map[string]string{"traceparent": "00-1-2-01", "X-Own": "1"} }),
	}
}

func readsBack(t *testing.T, tr transport) {
	t.Helper()
	for mode, want := range map[format.Mode]binding.Encoding{format.Binary: binding.EncodingBinary, format.Structured: binding.EncodingStructured} {
		for name, m := range sent() {
			t.Run(string(mode)+"/"+name, func(t *testing.T) {
				e, encoding := tr.send(t, format.CloudEvents{Source: "/shop", Mode: mode}, m)
				if encoding != want {
					t.Errorf("the SDK takes it for %v, want %v", encoding, want)
				}
				tr.same(t, e, m, mode)
			})
		}
	}
}

func (tr transport) same(t *testing.T, e *event.Event, m broker.Delivery, mode format.Mode) {
	t.Helper()
	text := func(value any) string {
		s, _ := value.(string)
		if tr.undecoded && mode == format.Binary {
			s, _ = url.PathUnescape(s)
		}
		return s
	}
	is := func(what, got, want string) {
		if got != want {
			t.Errorf("%s is %q, want %q", what, got, want)
		}
	}
	is("id", e.ID(), m.ID.String())
	is("source", e.Source(), "/shop")
	is("type", text(e.Type()), m.Type)
	is("subject", text(e.Subject()), m.Key)
	is("partitionkey", text(e.Extensions()["partitionkey"]), m.Key)
	is("tenant", text(e.Extensions()["tenant"]), m.Headers["ce-tenant"])
	if !e.Time().Equal(m.At) {
		t.Errorf("time is %v, want %v", e.Time(), m.At)
	}
	contentType := m.Headers["Content-Type"]
	if contentType == "" && len(m.Payload) > 0 {
		contentType = "application/json"
	}
	if len(m.Payload) > 0 || !tr.typeless {
		is("datacontenttype", text(e.DataContentType()), contentType)
	}
	if !bytes.Equal(e.Data(), m.Payload) {
		t.Errorf("the data is %q, want %q", e.Data(), m.Payload)
	}
}
