package format

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/postbag/postbag/broker"
)

func TestCloudEventsAttributesAreNamedAsEachBindingDemands(t *testing.T) {
	t.Parallel()
	const at = "2026-03-14T15:09:26.535897Z"
	plain := func(prefix string, more ...string) map[string]string {
		h := map[string]string{
			prefix + "specversion": "1.0", prefix + "id": id, prefix + "source": "/shop", prefix + "type": "order.created",
			prefix + "subject": `k "1" 50%ü`, prefix + "partitionkey": `k "1" 50%ü`, prefix + "time": at, prefix + "tenantid": "acme",
		}
		for i := 0; i < len(more); i += 2 {
			h[more[i]] = more[i+1]
		}
		return h
	}
	ascii := plain("ce-", "x-own", "a%20b")
	ascii["ce-subject"] = "k%20%221%22%2050%25%C3%BC"
	ascii["ce-partitionkey"] = ascii["ce-subject"]
	nats := plain("ce-", "x-own", "a%20b", "ce-datacontenttype", "application/json")
	nats["ce-subject"], nats["ce-partitionkey"] = ascii["ce-subject"], ascii["ce-subject"]
	for name, c := range map[string]struct {
		binding, prefix string
		want            map[string]string
	}{
		"http":           {broker.BindingHTTP, "", ascii},
		"nats":           {broker.BindingNATS, "", nats},
		"kafka":          {broker.BindingKafka, "", plain("ce_", "x-own", "a b")},
		"amqp":           {broker.BindingAMQP, "", plain("cloudEvents_", "x-own", "a b")},
		"amqp by colon":  {broker.BindingAMQP, "cloudEvents:", plain("cloudEvents:", "x-own", "a b")},
		"amqp, Knative":  {broker.BindingAMQP, "ce-", plain("ce-", "x-own", "a b")},
		"mqtt":           {broker.BindingMQTT, "", plain("")},
		"redis":          {broker.BindingRedis, "", plain("ce_", "x-own", "a b")},
		"something else": {"", "", plain("ce_", "x-own", "a b")},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			m := encoded(t, CloudEvents{Source: "/shop", AMQPPrefix: c.prefix}, message(func(m *broker.Delivery) {
				m.Key = `k "1" 50%ü`
				m.Headers = map[string]string{
					"ce-tenantid": "acme", "x-own": "a b", "ce_id": "forged", "CE-Time": "forged", "cloudEvents:id": "forged", "cloudEvents_id": "forged",
					"ce-dataschema": "",
				}
			}), c.binding)
			hasHeaders(t, m, c.want)
			if m.Wire.ContentType != "application/json" || m.Wire.Null || string(m.Payload) != `{"n": 1}` || m.Key != `k "1" 50%ü` {
				t.Errorf("content type %q, null %v, payload %s, key %q", m.Wire.ContentType, m.Wire.Null, m.Payload, m.Key)
			}
		})
	}
}

func TestCloudEventsTakeTheirAttributesFromTheMessage(t *testing.T) {
	t.Parallel()
	const at = "2026-03-14T15:09:26.535897Z"
	none := func(m *broker.Delivery) { m.Key, m.Type, m.At = "", "", time.Time{} }
	for name, c := range map[string]struct {
		options CloudEvents
		change  func(m *broker.Delivery)
		want    map[string]string
	}{
		"nothing but what must be": {
			CloudEvents{},
			none,
			map[string]string{"specversion": "1.0", "id": id, "source": "/outbox", "type": "orders"},
		},
		"the topic as subject": {
			CloudEvents{Subject: SubjectTopic},
			none,
			map[string]string{"specversion": "1.0", "id": id, "source": "/outbox", "type": "orders", "subject": "orders"},
		},
		"no subject": {
			CloudEvents{Subject: SubjectNone},
			nil,
			map[string]string{"specversion": "1.0", "id": id, "source": "/outbox", "type": "order.created", "time": at, "partitionkey": "k 1"},
		},
		"a box with a space": {
			CloudEvents{},
			func(m *broker.Delivery) { none(m); m.Box = "out box" },
			map[string]string{"specversion": "1.0", "id": id, "source": "/out%20box", "type": "orders"},
		},
		"headers that set attributes": {
			CloudEvents{Extensions: map[string]string{"tenant-id": "tenant", "schema": "dataschema"}},
			func(m *broker.Delivery) {
				none(m)
				m.Headers = map[string]string{
					"Ce-Subject": "s", "ce_type": "t", "ce-source": "https://x/y", "tenant-id": "acme", "schema": "https://x/schema", "ce-seq1": "7",
				}
			},
			map[string]string{
				"specversion": "1.0", "id": id, "source": "https://x/y", "type": "t", "subject": "s", "tenant": "acme", "dataschema": "https://x/schema", "seq1": "7",
			},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			m := encoded(t, c.options, message(c.change), broker.BindingMQTT)
			hasHeaders(t, m, c.want)
		})
	}
}

func TestAnEventWithoutDataHasNoValueAndNoType(t *testing.T) {
	t.Parallel()
	m := encoded(t, CloudEvents{}, message(func(m *broker.Delivery) { m.Payload = []byte{} }), broker.BindingNATS)
	if _, typed := m.Wire.Headers["ce-datacontenttype"]; typed || !m.Wire.Null || m.Wire.ContentType != "" {
		t.Errorf("%+v", *m.Wire)
	}
	m = encoded(t, CloudEvents{Mode: Structured, Subject: SubjectNone}, message(func(m *broker.Delivery) {
		m.Payload, m.Key, m.At = nil, "", time.Time{}
	}), broker.BindingKafka)
	if want := `{"specversion":"1.0","id":"` + id + `","source":"/outbox","type":"order.created"}`; string(m.Payload) != want || m.Wire.Null {
		t.Errorf("the document is %s, want %s", m.Payload, want)
	}
}

func TestAStructuredEventHoldsItsDataByItsContentType(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		contentType, payload string
		member, want         string // the text of the member
	}{
		"JSON":                      {"application/json", `{"n": 1}`, "data", `{"n": 1}`},
		"JSON by suffix":            {"application/x+json; charset=utf-8", `[1]`, "data", `[1]`},
		"invalid JSON":              {"application/json", `{"n":`, "data_base64", `"eyJuIjo="`},
		"JSON that is not UTF-8":    {"application/json", "\"\xff\"", "data_base64", `"Iv8i"`},
		"JSON null":                 {"", `null`, "data", `null`},
		"text":                      {"text/plain", "a\"\\\n\r\t\x01ü", "data", `"a\"\\\n\r\t\u0001ü"`},
		"XML":                       {"application/xml", "<a/>", "data", `"<a/>"`},
		"XML by suffix":             {"image/svg+xml;charset=UTF-8", "<a/>", "data", `"<a/>"`},
		"text that is not UTF-8":    {"text/plain", "\xff", "data_base64", `"/w=="`},
		"text in another character": {"text/plain; charset=latin1", "a", "data_base64", `"YQ=="`},
		"bytes":                     {"application/octet-stream", "a", "data_base64", `"YQ=="`},
		"no type":                   {"-", "1", "data_base64", `"MQ=="`},
		"an invalid type":           {";", "1", "data_base64", `"MQ=="`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			m := encoded(t, CloudEvents{Mode: Structured}, message(func(m *broker.Delivery) {
				m.Payload = []byte(c.payload)
				m.Headers = map[string]string{"own": "1", "ce-x": "2"}
				if c.contentType != "-" {
					m.Headers["Content-Type"] = c.contentType
				}
			}), broker.BindingHTTP)
			if c.contentType == "-" {
				m = encoded(t, CloudEvents{Mode: Structured, ContentType: "-"}, message(func(m *broker.Delivery) { m.Payload = []byte(c.payload) }), "")
			}
			var got map[string]json.RawMessage
			if err := json.Unmarshal(m.Payload, &got); err != nil {
				t.Fatalf("%v: %s", err, m.Payload)
			}
			if string(got[c.member]) != c.want {
				t.Errorf("%s is %s, want %s, in %s", c.member, got[c.member], c.want, m.Payload)
			}
			if _, typed := got["datacontenttype"]; typed == (c.contentType == "-") {
				t.Errorf("datacontenttype is %s", got["datacontenttype"])
			}
			if m.Wire.ContentType != "application/cloudevents+json; charset=UTF-8" {
				t.Errorf("the content type is %q", m.Wire.ContentType)
			}
			if c.contentType != "-" {
				hasHeaders(t, m, map[string]string{"own": "1"})
			}
		})
	}
}

// Over MQTT a binary event's user properties are all attributes. A structured one's
// are not.
func TestOtherHeadersAreSentWithAnEvent(t *testing.T) {
	t.Parallel()
	own := map[string]string{"tenant": "1", "tenant-id": "2", "id": "forged", "Traceparent": "3"}
	for binding, want := range map[string]map[string]string{
		broker.BindingMQTT:  {"tenant": "1"},
		broker.BindingKafka: {"tenant": "1", "tenant-id": "2", "id": "forged", "Traceparent": "3"},
	} {
		for _, mode := range []Mode{Binary, Structured} {
			m := encoded(t, CloudEvents{Mode: mode}, message(func(m *broker.Delivery) { m.Headers = own }), binding)
			wanted := want
			if mode == Structured {
				wanted = own
			}
			for name, value := range own {
				got, there := m.Wire.Headers[name]
				if _, wants := wanted[name]; mode == Binary && name == "id" && binding == broker.BindingMQTT {
					if got != id {
						t.Errorf("%s, %s: the id is %q", binding, mode, got)
					}
				} else if there != wants || there && got != value {
					t.Errorf("%s, %s: the header %s is %q, there %v, want %v", binding, mode, name, got, there, wants)
				}
			}
		}
	}
}

func TestAMessageThatCloudEventsDoesNotAllowIsRejected(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(m *broker.Delivery){
		"a control character":     func(m *broker.Delivery) { m.Key = "a\nb" },
		"a C1 control":            func(m *broker.Delivery) { m.Key = "a\u0085b" },
		"no UTF-8":                func(m *broker.Delivery) { m.Type = "\xff" },
		"neither type nor topic":  func(m *broker.Delivery) { m.Type, m.Topic = "", "" },
		"an attribute's bad name": func(m *broker.Delivery) { m.Headers = map[string]string{"ce-tenant-id": "1"} },
		"no name at all":          func(m *broker.Delivery) { m.Headers = map[string]string{"ce-": "1"} },
	} {
		for _, mode := range []Mode{Binary, Structured} {
			m := message(change)
			if err := (CloudEvents{Mode: mode}).Encode(&m, broker.BindingHTTP); err == nil {
				t.Errorf("%s: it is encoded: %+v", name, *m.Wire)
			}
		}
	}
}

func TestCloudEventsOptionsAreChecked(t *testing.T) {
	t.Parallel()
	bad := CloudEvents{
		Source: "a b", Mode: "m", Subject: "s", ContentType: " x", AMQPPrefix: ".",
		Extensions: map[string]string{"a": "A", "b": "id", "c": "x", "d": "x", "e": ""},
	}
	err := bad.Validate()
	if err == nil {
		t.Fatal("no fault is found")
	}
	for _, want := range []string{"Source", "Mode", "Subject", "ContentType", "AMQPPrefix", `"A"`, `"id"`, `both "c" and "d"`, `""`} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("%q is not named in %q", want, err)
		}
	}
	for _, good := range []CloudEvents{{}, {Source: "urn:x:y", Mode: Structured, Subject: SubjectTopic, ContentType: "-", AMQPPrefix: "cloudEvents:"}} {
		if err := good.Validate(); err != nil {
			t.Error(err)
		}
	}
}

func FuzzAStructuredEventIsJSON(f *testing.F) {
	for _, s := range []string{"", "a", "\"\\\n", "ü\u2028", "\xff", "{}"} {
		f.Add(s, s, "text/plain", []byte(s))
		f.Add(s, s, "application/json", []byte(s))
	}
	f.Fuzz(func(t *testing.T, key, value, contentType string, payload []byte) {
		m := message(func(m *broker.Delivery) {
			m.Key, m.Payload, m.Headers = key, payload, map[string]string{"ce-x": value, "content-type": contentType}
		})
		if err := (CloudEvents{Mode: Structured}).Encode(&m, ""); err != nil {
			return
		}
		var got struct {
			Subject, X string
			Data       any
		}
		if err := json.Unmarshal(m.Payload, &got); err != nil {
			t.Fatalf("%v: %q", err, m.Payload)
		}
		if got.Subject != key || got.X != value {
			t.Errorf("%q and %q became %q and %q", key, value, got.Subject, got.X)
		}
	})
}
