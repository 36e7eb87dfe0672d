package watermillbroker

import (
	"errors"
	"fmt"
	"maps"
	"strings"
	"time"

	"github.com/ThreeDotsLabs/watermill/message"

	"github.com/postbag/postbag"
	"github.com/postbag/postbag/broker"
)

const (
	// metadataUUID is the header in which a message that came from Watermill keeps
	// its UUID in the box.
	metadataUUID        = "Watermill-Uuid"
	metadataContentType = "Content-Type"
)

// encode makes Watermill's message of m: its UUID is the one that it had in
// Watermill, or else the message's id.
func (o Options) encode(m *broker.Delivery) *message.Message {
	id := m.ID.String()
	uuid := m.Headers[metadataUUID]
	if uuid == "" {
		uuid = id
	}
	w := message.NewMessage(uuid, m.Payload)
	if m.Wire != nil {
		maps.Copy(w.Metadata, m.Wire.Headers)
		if m.Wire.ContentType != "" {
			w.Metadata[o.contentType()] = m.Wire.ContentType
		}
	} else {
		plain(w.Metadata, m, id)
	}
	if o.KeyMetadata != "" && m.Key != "" {
		w.Metadata[o.KeyMetadata] = m.Key
	}
	return w
}

// contentType is where an encoder's content type goes.
func (o Options) contentType() string {
	if o.Binding == broker.BindingKafka || o.Binding == broker.BindingRedis {
		return strings.ToLower(metadataContentType)
	}
	return metadataContentType
}

// plain adds headers and facts, the facts last, so that no header passes for one.
func plain(to message.Metadata, m *broker.Delivery, id string) {
	for name, value := range m.Headers {
		if name != metadataUUID && !reserved(name) {
			to[name] = value
		}
	}
	to[broker.HeaderID] = id
	if m.Key != "" {
		to[broker.HeaderKey] = m.Key
	}
	if m.Type != "" {
		to[broker.HeaderType] = m.Type
	}
	if !m.At.IsZero() {
		to[broker.HeaderTime] = broker.FormatTime(m.At)
	}
}

// ErrForeign says that a message carries no Postbag-Id: a Destination did not send
// it, or did so with an encoder.
var ErrForeign = errors.New("watermillbroker: the message has no " + broker.HeaderID + " metadata; decode it by its sender's rules")

// Message gives a consumer the message that a Destination sent: facts and headers
// as they were published, the payload as it is. topic is the one it came by. Seq,
// Box and Subscription stay with the sender. A message of someone else's is
// ErrForeign. The payload is m's, not a copy.
func Message(topic string, m *message.Message) (broker.Delivery, error) {
	text := m.Metadata.Get(broker.HeaderID)
	if text == "" {
		return broker.Delivery{}, ErrForeign
	}
	id, err := postbag.ParseID(text)
	if err != nil {
		return broker.Delivery{}, fmt.Errorf("watermillbroker: metadata %s: %w", broker.HeaderID, err)
	}
	d := broker.Delivery{
		Message: postbag.Message{
			ID: id, Topic: topic, Payload: m.Payload,
			Key: m.Metadata.Get(broker.HeaderKey), Type: m.Metadata.Get(broker.HeaderType),
			Headers: make(map[string]string, len(m.Metadata)),
		},
		Attempt: 1,
	}
	if text := m.Metadata.Get(broker.HeaderTime); text != "" {
		if d.At, err = time.Parse(broker.TimeFormat, text); err != nil {
			return broker.Delivery{}, fmt.Errorf("watermillbroker: metadata %s is not a time such as %s; look at who sent it",
				broker.HeaderTime, broker.TimeFormat)
		}
	}
	for name, value := range m.Metadata {
		if !reserved(name) {
			d.Headers[name] = value
		}
	}
	if m.UUID != text && m.UUID != id.String() {
		d.Headers[metadataUUID] = m.UUID
	}
	return d, nil
}
