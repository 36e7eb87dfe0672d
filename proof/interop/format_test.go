package interop_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/postbag/postbag"
	"github.com/postbag/postbag/broker"
	"github.com/postbag/postbag/format"
)

// transport is a destination with a consumer that somebody else wrote.
type transport struct {
	// open makes a place of this name, ready to take messages.
	open func(t *testing.T, place string) broker.Destination
	read func(t *testing.T, place string, n int) []seen
	// ascii: headers are percent-encoded.
	ascii bool
	// escapes: the destination's own form percent-encodes a little.
	escapes bool
	// folds: names of headers come in another case.
	folds bool
	// keyed: the consumer sees the key.
	keyed bool
	// nulls: the consumer tells null from no bytes.
	nulls bool
}

var places atomic.Int64

// readsAll sends the same messages in each format, each format to a place of its own.
func (tr transport) readsAll(t *testing.T) {
	t.Helper()
	for name, c := range map[string]struct {
		encoder broker.Encoder
		prefix  string // of the topic
		check   func(t *testing.T, tr transport, sent broker.Delivery, got seen)
	}{
		"the destination's own": {nil, "", checkFacts},
		"plain":                 {format.Plain{Names: format.Names{ID: "Message-Id", Time: "-"}, Reserved: true}, "", checkPlain},
		"cloudevents":           {format.CloudEvents{Source: "/shop"}, "", checkEvent},
		"structured":            {format.CloudEvents{Source: "/shop", Mode: format.Structured}, "", checkEvent},
		"knative":               {format.CloudEvents{Source: "/shop", AMQPPrefix: "ce-"}, "", checkEvent},
		"debezium":              {format.Debezium{Tombstone: true}, "outbox.event.", checkDebezium},
		"debezium's envelope": {format.Debezium{
			Fields: []format.Field{{Column: "type", Placement: format.InEnvelope, Name: "eventType"}}, ExpandJSON: true,
		}, "outbox.event.", checkEnvelope},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			topic := fmt.Sprintf("place%d", places.Add(1))
			sent := messages(topic)
			publish(t, broker.Wrap(tr.open(t, c.prefix+topic), format.Encode(c.encoder)), sent)
			got := tr.read(t, c.prefix+topic, len(sent))
			for i := range sent {
				c.check(t, tr, sent[i], got[i])
			}
		})
	}
}

func messages(topic string) []broker.Delivery {
	var out []broker.Delivery
	for i, m := range []postbag.Message{
		{Key: "customer-7", Type: "order.created", Payload: []byte(`{"n": 1}`), Headers: map[string]string{"tenant": "acme"}},
		{Key: `größe 50% "x"`, Type: "a b", Payload: []byte(`{"text": "grün"}`), Headers: map[string]string{"tenant": "🙂 é"}},
		{Key: "customer-7", Type: "order.removed", Headers: map[string]string{"tenant": "acme"}},
	} {
		m.ID, m.Topic = postbag.NewID(), topic
		out = append(out, broker.Delivery{
			Message: m, Box: "outbox", Subscription: "default", Seq: int64(i + 1), Attempt: 1,
			At: time.Date(2026, 3, 14, 15, 9, 26, 535_897_000, time.UTC),
		})
	}
	return out
}

// publish sends one after the other, so that all are read in this order.
func publish(t *testing.T, d broker.Destination, msgs []broker.Delivery) {
	t.Helper()
	for i := range msgs {
		results := broker.Publish(t.Context(), d, msgs[i:i+1])
		if results[0].Outcome != broker.Accepted {
			t.Fatalf("message %d is %v (%v)", i, results[0].Outcome, results[0].Err)
		}
	}
}

// header wants one of this value.
func (tr transport) header(t *testing.T, got seen, name, want string) {
	t.Helper()
	value, there := got.Headers[name]
	if tr.folds {
		for other, v := range got.Headers {
			if strings.EqualFold(other, name) {
				value, there = v, true
			}
		}
	}
	if tr.ascii {
		value = broker.Unescape(value)
	}
	if !there || value != want {
		t.Errorf("the header %s is %q, want %q, of %q", name, value, want, got.Headers)
	}
}

// body wants the payload and the key as they were sent.
func (tr transport) body(t *testing.T, sent broker.Delivery, got seen) {
	t.Helper()
	if !bytes.Equal(got.Payload, sent.Payload) {
		t.Errorf("the payload is %q, want %q", got.Payload, sent.Payload)
	}
	tr.key(t, sent, got)
}

func (tr transport) key(t *testing.T, sent broker.Delivery, got seen) {
	t.Helper()
	if tr.keyed && got.Key != sent.Key {
		t.Errorf("the key is %q, want %q", got.Key, sent.Key)
	}
}

// null wants no payload at all where the message had none.
func (tr transport) null(t *testing.T, sent broker.Delivery, got seen) {
	t.Helper()
	if want := tr.nulls && len(sent.Payload) == 0; want != (got.Payload == nil) {
		t.Errorf("the payload is %#v, null is wanted: %v", got.Payload, want)
	}
}

func checkFacts(t *testing.T, tr transport, sent broker.Delivery, got seen) {
	t.Helper()
	tr.body(t, sent, got)
	tr.ascii = tr.ascii || tr.escapes
	tr.header(t, got, "Postbag-Id", sent.ID.String())
	tr.header(t, got, "Postbag-Key", sent.Key)
	tr.header(t, got, "Postbag-Type", sent.Type)
	tr.header(t, got, "Postbag-Time", broker.FormatTime(sent.At))
}

func checkPlain(t *testing.T, tr transport, sent broker.Delivery, got seen) {
	t.Helper()
	tr.body(t, sent, got)
	for name, want := range map[string]string{
		"Message-Id": sent.ID.String(), "Postbag-Key": sent.Key, "Postbag-Type": sent.Type, "tenant": sent.Headers["tenant"],
		"Outbox-Name": "outbox", "Idempotency-Key": sent.ID.String(), "Sequence-ID": fmt.Sprint(sent.Seq), "Created-At": broker.FormatTime(sent.At),
	} {
		tr.header(t, got, name, want)
	}
}

func checkDebezium(t *testing.T, tr transport, sent broker.Delivery, got seen) {
	t.Helper()
	tr.body(t, sent, got)
	tr.null(t, sent, got)
	tr.header(t, got, "id", sent.ID.String())
	tr.header(t, got, "eventType", sent.Type)
	tr.header(t, got, "tenant", sent.Headers["tenant"])
}

func checkEnvelope(t *testing.T, tr transport, sent broker.Delivery, got seen) {
	t.Helper()
	tr.key(t, sent, got)
	tr.header(t, got, "id", sent.ID.String())
	var value struct {
		Payload   json.RawMessage `json:"payload"`
		EventType string          `json:"eventType"` //nolint:tagliatelle // Debezium's name
	}
	if err := json.Unmarshal(got.Payload, &value); err != nil {
		t.Fatalf("the value %s is no JSON: %v", got.Payload, err)
	}
	want := string(sent.Payload)
	if want == "" {
		want = "null"
	}
	if string(value.Payload) != want || value.EventType != sent.Type {
		t.Errorf("the value is %s", got.Payload)
	}
}

// checkEvent wants what the SDK for Python made of it.
func checkEvent(t *testing.T, tr transport, sent broker.Delivery, got seen) {
	t.Helper()
	tr.key(t, sent, got)
	want := map[string]string{
		"specversion": "1.0", "id": sent.ID.String(), "source": "/shop", "type": sent.Type, "subject": sent.Key, "partitionkey": sent.Key,
		"time": sent.At.Format("2006-01-02 15:04:05.000000-07:00"),
	}
	if len(sent.Payload) > 0 {
		want["datacontenttype"] = "application/json"
	}
	for name, value := range want {
		if got.Attributes[name] != value {
			t.Errorf("the attribute %s is %q, want %q, of %q and %q", name, got.Attributes[name], value, got.Attributes, got.Headers)
		}
	}
	if len(sent.Payload) > 0 {
		var data any
		if err := json.Unmarshal(sent.Payload, &data); err != nil {
			t.Fatal(err)
		}
		if fmt.Sprint(got.Data) != fmt.Sprint(data) {
			t.Errorf("the data is %v, want %v", got.Data, data)
		}
	}
	tr.header(t, got, "tenant", sent.Headers["tenant"])
}
