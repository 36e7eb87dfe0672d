package natsbroker

import (
	"errors"
	"fmt"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/postbag/postbag"
	"github.com/postbag/postbag/broker"
)

// ErrForeign says that a message carries no Postbag-Id: it was not sent by
// Postbag, or not with its own encoding.
var ErrForeign = errors.New("natsbroker: the message has no " + broker.HeaderID + " header; decode it by its sender's rules")

// Message gives a consumer the message that was published: facts and headers as
// they were before this package encoded them, the payload as it is, the subject
// as Topic. At is when the producer's database stored it; Seq, Box and
// Subscription stay with the sender. Headers that were set for the stream
// (Nats-Msg-Id, Nats-Expected-Stream) are left out. A message of someone else's
// is ErrForeign. The payload is m's, not a copy.
func Message(m jetstream.Msg) (broker.Delivery, error) {
	return decode(m.Subject(), m.Headers(), m.Data())
}

// CoreMessage is Message for what came by an ordinary NATS subscription, such as
// a stream's republished messages.
func CoreMessage(m *nats.Msg) (broker.Delivery, error) {
	return decode(m.Subject, m.Header, m.Data)
}

func decode(subject string, header nats.Header, payload []byte) (broker.Delivery, error) {
	text := header.Get(broker.HeaderID)
	if text == "" {
		return broker.Delivery{}, ErrForeign
	}
	id, err := postbag.ParseID(text)
	if err != nil {
		return broker.Delivery{}, fmt.Errorf("natsbroker: header %s: %w", broker.HeaderID, err)
	}
	d := broker.Delivery{
		Message: postbag.Message{
			ID: id, Topic: subject, Payload: payload,
			Key:     broker.Unescape(header.Get(broker.HeaderKey)),
			Type:    broker.Unescape(header.Get(broker.HeaderType)),
			Headers: map[string]string{},
		},
		Attempt: 1,
	}
	if text := header.Get(broker.HeaderTime); text != "" {
		if d.At, err = time.Parse(broker.TimeFormat, text); err != nil {
			return broker.Delivery{}, fmt.Errorf("natsbroker: header %s is not a time such as %s; look at who sent it",
				broker.HeaderTime, broker.TimeFormat)
		}
	}
	for name, values := range header {
		if name == headerMsgID || name == headerExpectedStream || broker.IsFact(name) || len(values) == 0 {
			continue
		}
		d.Headers[broker.Unescape(name)] = broker.Unescape(values[0])
	}
	return d, nil
}
