package watermillbroker

import (
	"errors"
	"fmt"
	"time"

	"github.com/ThreeDotsLabs/watermill/message"

	"github.com/postbag/postbag"
	"github.com/postbag/postbag/broker"
)

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
		if !reserved(name) || name == broker.HeaderReplay {
			d.Headers[name] = value
		}
	}
	if m.UUID != text && m.UUID != id.String() {
		d.Headers[metadataUUID] = m.UUID
	}
	return d, nil
}
