package rabbitbroker_test

import (
	"bytes"
	"errors"
	"maps"
	"strings"
	"testing"
	"time"

	amqp "github.com/rabbitmq/amqp091-go"

	"github.com/postbag/postbag"
	"github.com/postbag/postbag/broker"
	"github.com/postbag/postbag/broker/rabbitbroker"
	"github.com/postbag/postbag/internal/publishtest"
)

func TestAConsumerGetsTheMessageThatWasPublished(t *testing.T) {
	t.Parallel()
	node := shared(t)
	for _, kind := range []string{"classic", "quorum", "stream"} {
		p := newPlace(t, node, kind, true).create(t, nil)
		sent := broker.Delivery{
			Message: postbag.Message{
				ID: postbag.NewID(), Topic: p.queue, Key: "schlüssel\r\n%41", Type: "art 1",
				Headers: map[string]string{
					"trace id": " \x01\n漢字", "CC": "elsewhere", "BCC": "elsewhere", "Postbag-Key": "mine", "empty": "", "%41": "percent", "%": "p",
					"Content-Type": "application/json", "x-delivery-count": "7",
				},
				Payload: []byte("\x00\xff\r\n"),
			},
			At: time.Date(2026, 1, 2, 3, 4, 5, 678_901_000, time.UTC), Attempt: 1,
		}
		d := publishtest.Closing(t, dial(t, p.url, p.options()))
		publishtest.Wants(t, publishtest.Publish(t, d, 20*time.Second, sent), broker.Accepted, "")
		raw := p.read(t)[0]
		if raw.MessageId != sent.ID.String() || raw.Type != sent.Type || raw.ContentType != "application/json" ||
			raw.Timestamp.Unix() != sent.At.Unix() || raw.DeliveryMode != amqp.Persistent {
			t.Errorf("%s: the properties are %q %q %q %v %d", kind, raw.MessageId, raw.Type, raw.ContentType, raw.Timestamp, raw.DeliveryMode)
		}
		got, err := rabbitbroker.Message(raw)
		if err != nil {
			t.Fatal(err)
		}
		if got.ID != sent.ID || got.Topic != sent.Topic || got.Key != sent.Key || got.Type != sent.Type || !got.At.Equal(sent.At) ||
			!maps.Equal(got.Headers, sent.Headers) || !bytes.Equal(got.Payload, sent.Payload) || got.Attempt != 1 {
			t.Errorf("%s: got %+v, want %+v", kind, got, sent)
		}
	}
}

func TestAMessageOfAnotherPublisherIsErrForeign(t *testing.T) {
	t.Parallel()
	if _, err := rabbitbroker.Message(amqp.Delivery{}); !errors.Is(err, rabbitbroker.ErrForeign) {
		t.Errorf("no headers: %v", err)
	}
	for title, headers := range map[string]amqp.Table{
		"a bad id":   {broker.HeaderID: "12"},
		"a bad time": {broker.HeaderID: postbag.NewID().String(), broker.HeaderTime: "yesterday"},
	} {
		if _, err := rabbitbroker.Message(amqp.Delivery{Headers: headers}); err == nil || errors.Is(err, rabbitbroker.ErrForeign) {
			t.Errorf("%s: %v", title, err)
		}
	}
	other, err := rabbitbroker.Message(amqp.Delivery{Headers: amqp.Table{
		broker.HeaderID: []byte(postbag.NewID().String()), "number": int32(1), "x-death": "text", "kept": "1",
	}})
	if err != nil || !maps.Equal(other.Headers, map[string]string{"kept": "1"}) {
		t.Errorf("headers %v, %v; want the one that is text and nobody's", other.Headers, err)
	}
}

func TestAMessageThatAMQPCannotCarryIsRejectedBeforeSending(t *testing.T) {
	t.Parallel()
	p := newPlace(t, shared(t), "classic", false).create(t, nil)
	d := publishtest.Closing(t, dial(t, p.url, rabbitbroker.Options{RoutingKey: "{topic}{type}", Exchange: "{subscription}"}))
	long := strings.Repeat("x", 256)
	for title, c := range map[string]struct {
		change func(m *broker.Delivery)
		want   string
	}{
		"a routing key":           {func(m *broker.Delivery) { m.Type = long }, "the routing key has"},
		"an exchange":             {func(m *broker.Delivery) { m.Subscription = long }, "the exchange's name has 256 bytes"},
		"a header's name":         {func(m *broker.Delivery) { m.Headers = map[string]string{long: ""} }, "a header's name has 256 bytes"},
		"a disarmed header":       {func(m *broker.Delivery) { m.Headers = map[string]string{"%" + long[:253]: ""} }, "a header's name has 256 bytes"},
		"headers":                 {func(m *broker.Delivery) { m.Headers = map[string]string{"x": strings.Repeat("x", 131_072)} }, "one frame of the server holds 131072"},
		"an encoder's header":     {func(m *broker.Delivery) { m.Wire = &broker.Wire{Headers: map[string]string{long: ""}} }, "a header's name has 256 bytes"},
		"an encoder's command":    {func(m *broker.Delivery) { m.Wire = &broker.Wire{Headers: map[string]string{"BCC": ""}} }, "the server would obey"},
		"an encoder's media type": {func(m *broker.Delivery) { m.Wire = &broker.Wire{ContentType: long} }, "content type has 256 bytes"},
	} {
		msgs := publishtest.Messages(p.queue, 3)
		for i := range msgs {
			msgs[i].Subscription = "" // the default exchange
		}
		c.change(&msgs[1])
		results := publishtest.Publish(t, d, 20*time.Second, msgs...)
		publishtest.Wants(t, results[1:2], broker.Rejected, c.want)
		publishtest.Wants(t, []broker.Result{results[0], results[2]}, broker.Accepted, "")
		if strings.Contains(results[1].Err.Error(), long[:100]) {
			t.Errorf("%s: the error holds the text", title)
		}
	}
	publishtest.Wants(t, publishtest.Publish(t, d, 20*time.Second, largestHeaders(p.queue)), broker.Accepted, "")
}

// largestHeaders has the largest headers that one frame holds, to the byte.
func largestHeaders(topic string) broker.Delivery {
	m := publishtest.Messages(topic, 1)[0]
	m.Key, m.Subscription = "", ""
	id, at := len("Postbag-Id")+6+36, len("Postbag-Time")+6+len(broker.FormatTime(m.At))
	frame := 8 + 14 + 4 + 1 + 8 + 37 // frame, class to flags, length of the table, delivery mode, timestamp, message-id
	m.Headers = map[string]string{"x": strings.Repeat("x", 131_072-frame-id-at-7)}
	return m
}
