package format

import (
	"maps"
	"strings"
	"testing"
	"time"

	"github.com/postbag/postbag"
	"github.com/postbag/postbag/broker"
)

var stored = time.Date(2026, 3, 14, 15, 9, 26, 535_897_000, time.UTC)

func message(change func(m *broker.Delivery)) broker.Delivery {
	m := broker.Delivery{
		Message: postbag.Message{ID: postbag.ID{1, 2, 3}, Topic: "orders", Key: "k 1", Type: "order.created", Payload: []byte(`{"n": 1}`)},
		Box:     "outbox", Subscription: "default", Seq: 42, At: stored, Attempt: 1,
	}
	if change != nil {
		change(&m)
	}
	return m
}

const id = "01020300-0000-0000-0000-000000000000"

// encoded wants no error.
func encoded(t *testing.T, e broker.Encoder, m broker.Delivery, binding string) broker.Delivery {
	t.Helper()
	if err := Validate(e); err != nil {
		t.Fatal(err)
	}
	if err := e.Encode(&m, binding); err != nil {
		t.Fatal(err)
	}
	return m
}

// hasHeaders wants exactly these headers.
func hasHeaders(t *testing.T, m broker.Delivery, want map[string]string) {
	t.Helper()
	if !maps.Equal(m.Wire.Headers, want) {
		t.Errorf("the headers are\n%q, want\n%q", m.Wire.Headers, want)
	}
}

func TestPlainSendsMessageFieldsUnderTheConfiguredNames(t *testing.T) {
	t.Parallel()
	const atText = "2026-03-14T15:09:26.535897Z"
	all := Names{ID: "X-Id", Key: "X-Key", Type: "X-Type", Time: "X-Time", Topic: "X-Topic", Seq: "X-Seq", Box: "X-Box", Subscription: "X-Sub"}
	for name, c := range map[string]struct {
		plain Plain
		bare  bool // a message without key, type and time
		want  map[string]string
	}{
		"by default": {Plain{}, false, map[string]string{"Postbag-Id": id, "Postbag-Key": "k 1", "Postbag-Type": "order.created", "Postbag-Time": atText}},
		"of a bare message": {Plain{Reserved: true}, true, map[string]string{
			"Postbag-Id": id, "Outbox-Name": "outbox", "Idempotency-Key": id, "Sequence-ID": "42",
		}},
		"all": {Plain{Names: all}, false, map[string]string{
			"X-Id": id, "X-Key": "k 1", "X-Type": "order.created", "X-Time": atText,
			"X-Topic": "orders", "X-Seq": "42", "X-Box": "outbox", "X-Sub": "default",
		}},
		"some left out": {Plain{Names: Names{ID: "-", Time: "-", Type: "kind"}}, false, map[string]string{"Postbag-Key": "k 1", "kind": "order.created"}},
		"the reserved": {Plain{Names: Names{ID: "-", Key: "-", Type: "-", Time: "-"}, Reserved: true, DispatchedAt: true, now: func() time.Time { return stored.Add(time.Hour) }}, false, map[string]string{
			"Outbox-Name": "outbox", "Idempotency-Key": id, "Sequence-ID": "42", "Created-At": atText, "Dispatched-At": "2026-03-14T16:09:26.535897Z",
		}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			m := encoded(t, c.plain, message(func(m *broker.Delivery) {
				if c.bare {
					m.Key, m.Type, m.At = "", "", time.Time{}
				}
			}), broker.BindingKafka)
			hasHeaders(t, m, c.want)
			if string(m.Payload) != `{"n": 1}` || m.Topic != "orders" {
				t.Errorf("payload %s, topic %s", m.Payload, m.Topic)
			}
		})
	}
}

func TestPlainEncodesOwnHeadersForTheBinding(t *testing.T) {
	t.Parallel()
	own := map[string]string{
		"tenant": "ac me", "grün:1": "ü", "empty": "", "Content-type": "text/x", "content-Length": "9", "Authorization": "x",
		"Nats-Rollup": "all", "Status": "100", "Postbag-Key": "forged", "postbag-type": "forged", "Webhook-Id": "forged",
	}
	only := Plain{Names: Names{ID: "-", Time: "-"}}
	for binding, want := range map[string]map[string]string{
		broker.BindingKafka: {
			"Postbag-Key": "k 1", "tenant": "ac me", "grün:1": "ü", "empty": "", "content-Length": "9", "Authorization": "x",
			"Nats-Rollup": "all", "Status": "100", "Webhook-Id": "forged",
		},
		broker.BindingNATS: {
			"Postbag-Key": "k%201", "tenant": "ac%20me", "gr%C3%BCn%3A1": "%C3%BC", "empty": "", "content-Length": "9", "Authorization": "x",
			"%4Eats-Rollup": "all", "%53tatus": "100", "Webhook-Id": "forged",
		},
		broker.BindingHTTP: {
			"Postbag-Key": "k%201", "tenant": "ac%20me", "gr%C3%BCn%3A1": "%C3%BC", "%63ontent-Length": "9", "%41uthorization": "x",
			"Nats-Rollup": "all", "Status": "100", "%57ebhook-Id": "forged",
		},
	} {
		t.Run(binding, func(t *testing.T) {
			t.Parallel()
			m := encoded(t, only, message(func(m *broker.Delivery) { m.Headers, m.Type = own, "" }), binding)
			hasHeaders(t, m, want)
			if m.Wire.ContentType != "text/x" {
				t.Errorf("the content type is %q", m.Wire.ContentType)
			}
		})
	}
}

func TestPlainKeepsTheFirstOfOwnHeadersThatDifferInCase(t *testing.T) {
	t.Parallel()
	for range 20 {
		m := encoded(t, Plain{Names: Names{ID: "-", Key: "-", Type: "-", Time: "-"}}, message(func(m *broker.Delivery) {
			m.Headers = map[string]string{"b": "3", "A": "1", "a": "2", "B": "4", "content-type": "y", "Content-Type": "x"}
		}), broker.BindingHTTP)
		hasHeaders(t, m, map[string]string{"A": "1", "B": "4"})
		if m.Wire.ContentType != "x" {
			t.Errorf("the content type is %q", m.Wire.ContentType)
		}
	}
}

func TestPlainHasAContentTypeOfItsOwn(t *testing.T) {
	t.Parallel()
	if m := encoded(t, Plain{ContentType: "a/b"}, message(nil), ""); m.Wire.ContentType != "a/b" {
		t.Errorf("the content type is %q", m.Wire.ContentType)
	}
	m := encoded(t, Plain{ContentType: "a/b"}, message(func(m *broker.Delivery) { m.Headers = map[string]string{"CONTENT-TYPE": "c/d"} }), "")
	if m.Wire.ContentType != "c/d" {
		t.Errorf("the message's own content type became %q", m.Wire.ContentType)
	}
}

func TestPlainNamesAreChecked(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		plain Plain
		want  []string
	}{
		"good":             {Plain{Names: Names{ID: "id", Key: "-"}, Reserved: true, DispatchedAt: true}, nil},
		"several faults":   {Plain{Names: Names{ID: "a b", Key: "Nats-X", Type: "content-type"}}, []string{`"a b"`, `"Nats-X"`, `"content-type"`}},
		"twice":            {Plain{Names: Names{ID: "x", Key: "X"}}, []string{"given twice"}},
		"a reserved one":   {Plain{Names: Names{ID: "idempotency-key"}, Reserved: true}, []string{"given twice"}},
		"of the transport": {Plain{Names: Names{Box: "Host"}}, []string{`"Host"`}},
	} {
		err := c.plain.Validate()
		if (err == nil) != (c.want == nil) {
			t.Errorf("%s: %v", name, err)
		}
		for _, want := range c.want {
			if err != nil && !strings.Contains(err.Error(), want) {
				t.Errorf("%s: %q does not name %q", name, err, want)
			}
		}
	}
}
