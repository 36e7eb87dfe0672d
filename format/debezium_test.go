package format

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/postbag/postbag/broker"
)

func TestDebeziumEncodesAsTheOutboxEventRouter(t *testing.T) {
	t.Parallel()
	placed := func(text string) []Field {
		fields, err := ParseFields(text)
		if err != nil {
			t.Fatal(err)
		}
		return fields
	}
	for name, c := range map[string]struct {
		debezium Debezium
		change   func(m *broker.Delivery)
		topic    string
		headers  map[string]string
		payload  string
		null     bool
	}{
		"by default":        {Debezium{}, nil, "outbox.event.orders", map[string]string{"id": id, "eventType": "order.created"}, `{"n": 1}`, false},
		"another route":     {Debezium{Route: "x.${routedByValue}.y"}, nil, "x.orders.y", map[string]string{"id": id, "eventType": "order.created"}, `{"n": 1}`, false},
		"one route for all": {Debezium{Route: "all"}, nil, "all", map[string]string{"id": id, "eventType": "order.created"}, `{"n": 1}`, false},
		"no fields":         {Debezium{Fields: []Field{}}, nil, "outbox.event.orders", map[string]string{"id": id}, `{"n": 1}`, false},
		"no type":           {Debezium{}, func(m *broker.Delivery) { m.Type = "" }, "outbox.event.orders", map[string]string{"id": id}, `{"n": 1}`, false},
		"all columns in headers": {
			Debezium{Fields: placed("type:header:eventType, aggregatetype:header, aggregateid:header:key,timestamp:header:ts,id:header:event,tenant:header")},
			func(m *broker.Delivery) {
				m.Headers = map[string]string{"tenant": "acme", "Id": "forged", "EVENTTYPE": "forged", "own": "ü"}
			},
			"outbox.event.orders",
			map[string]string{
				"id": id, "eventType": "order.created", "aggregatetype": "orders", "key": "k 1", "ts": "1773500966535", "event": id, "tenant": "acme", "own": "ü",
			},
			`{"n": 1}`, false,
		},
		"an envelope": {
			Debezium{Fields: placed("type:envelope:eventType,timestamp:envelope,tenant:envelope,absent:envelope")},
			func(m *broker.Delivery) { m.Headers = map[string]string{"tenant": "a\"b"} },
			"outbox.event.orders",
			map[string]string{"id": id},
			`{"payload":"{\"n\": 1}","eventType":"order.created","timestamp":1773500966535,"tenant":"a\"b"}`, false,
		},
		"an envelope of JSON": {
			Debezium{Fields: placed("type:envelope:eventType"), ExpandJSON: true},
			nil, "outbox.event.orders",
			map[string]string{"id": id},
			`{"payload":{"n": 1},"eventType":"order.created"}`, false,
		},
		"an invalid envelope of JSON": {
			Debezium{Fields: placed("type:envelope:eventType"), ExpandJSON: true},
			func(m *broker.Delivery) { m.Payload = []byte("{") }, "outbox.event.orders",
			map[string]string{"id": id},
			`{"payload":"{","eventType":"order.created"}`, false,
		},
		"an envelope of bytes": {
			Debezium{Fields: placed("type:envelope:eventType")},
			func(m *broker.Delivery) { m.Payload = []byte{0xff} }, "outbox.event.orders",
			map[string]string{"id": id},
			`{"payload":"/w==","eventType":"order.created"}`, false,
		},
		"an envelope of nothing": {
			Debezium{Fields: placed("type:envelope:eventType")},
			func(m *broker.Delivery) { m.Payload = nil }, "outbox.event.orders",
			map[string]string{"id": id},
			`{"payload":null,"eventType":"order.created"}`, false,
		},
		"nothing":     {Debezium{}, func(m *broker.Delivery) { m.Payload = nil }, "outbox.event.orders", map[string]string{"id": id, "eventType": "order.created"}, "", false},
		"a tombstone": {Debezium{Tombstone: true}, func(m *broker.Delivery) { m.Payload = []byte{} }, "outbox.event.orders", map[string]string{"id": id, "eventType": "order.created"}, "", true},
		"a tombstone, not an envelope": {
			Debezium{Tombstone: true, Fields: placed("type:envelope:eventType")},
			func(m *broker.Delivery) { m.Payload = nil }, "outbox.event.orders",
			map[string]string{"id": id},
			"", true,
		},
		"no tombstone with a payload": {Debezium{Tombstone: true}, nil, "outbox.event.orders", map[string]string{"id": id, "eventType": "order.created"}, `{"n": 1}`, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			m := encoded(t, c.debezium, message(c.change), broker.BindingKafka)
			hasHeaders(t, m, c.headers)
			if m.Topic != c.topic || m.Key != "k 1" || string(m.Payload) != c.payload || m.Wire.Null != c.null {
				t.Errorf("topic %q, key %q, payload %s, null %v; want %q, %s, %v", m.Topic, m.Key, m.Payload, m.Wire.Null, c.topic, c.payload, c.null)
			}
			if want := m.Wire.Headers["eventType"] == "" && c.payload != "" && strings.Contains(c.payload, "payload"); want != (m.Wire.ContentType == "application/json") {
				t.Errorf("the content type is %q", m.Wire.ContentType)
			}
		})
	}
}

func TestDebeziumsHeadersAreASCIIWhereTheyMustBe(t *testing.T) {
	t.Parallel()
	for _, binding := range []string{broker.BindingHTTP, broker.BindingNATS} {
		m := encoded(t, Debezium{Fields: []Field{{"type", InHeader, "eventType"}, {"gone", InHeader, ""}}}, message(func(m *broker.Delivery) {
			m.Type, m.Headers = "größe 1", map[string]string{"own": "a b", "content-type": "text/plain"}
		}), binding)
		hasHeaders(t, m, map[string]string{"id": id, "eventType": "gr%C3%B6%C3%9Fe%201", "own": "a%20b"})
		if m.Wire.ContentType != "text/plain" {
			t.Errorf("the content type is %q", m.Wire.ContentType)
		}
	}
}

func TestParseFieldsTakesDebeziumsSyntax(t *testing.T) {
	t.Parallel()
	got, err := ParseFields(" type:header:eventType ,tenant:envelope,")
	if want := []Field{{"type", InHeader, "eventType"}, {"tenant", InEnvelope, ""}}; err != nil || !slices.Equal(got, want) {
		t.Errorf("%+v, %v, want %+v", got, err, want)
	}
	if got, err := ParseFields(""); err != nil || got == nil || len(got) != 0 {
		t.Errorf("of nothing: %#v, %v, want an empty slice", got, err)
	}
	for text, want := range map[string]string{
		"type": "column:placement", "a:b:c:d": "column:placement", "type:partition": "placement", ":header": "no column",
		"type:header:id": `"id"`, "type:envelope:payload": `"payload"`, "type:header:x,tenant:header:x": `"x"`,
	} {
		if _, err := ParseFields(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want a word of %s", text, err, want)
		}
	}
}

func TestAMessageThatDebeziumCannotEncodeIsRejected(t *testing.T) {
	t.Parallel()
	enveloped := Debezium{Fields: []Field{{"type", InEnvelope, ""}}}
	for name, c := range map[string]struct {
		debezium Debezium
		change   func(m *broker.Delivery)
	}{
		"a field that is not UTF-8": {enveloped, func(m *broker.Delivery) { m.Type = "\xff" }},
		"no topic":                  {Debezium{Route: "${routedByValue}"}, func(m *broker.Delivery) { m.Topic = "" }},
	} {
		m := message(c.change)
		if err := c.debezium.Encode(&m, broker.BindingKafka); err == nil {
			t.Errorf("%s: it is encoded", name)
		}
	}
	if _, _, ok := (Field{Column: "timestamp"}).value(&broker.Delivery{At: time.Time{}}); ok {
		t.Error("a message without a time has one")
	}
}
