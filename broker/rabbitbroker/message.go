package rabbitbroker

import (
	"errors"
	"fmt"
	"time"

	amqp "github.com/rabbitmq/amqp091-go"

	"github.com/postbag/postbag"
	"github.com/postbag/postbag/broker"
)

// ErrForeign says that a message carries no Postbag-Id: it was not sent by
// Postbag, or not in its plain form.
var ErrForeign = errors.New("rabbitbroker: the message has no " + broker.HeaderID + " header; decode it by its sender's rules")

// Message gives a consumer the message that was published: facts and headers as
// they were, the payload as it is, the routing key as Topic. At is when the
// producer's database stored it; Seq, Box and Subscription stay with the sender.
// Headers that are no text, which servers and plugins add, are left out, and so is
// x-delivery-count. A message of someone else's is ErrForeign. The payload is m's,
// not a copy.
func Message(m amqp.Delivery) (broker.Delivery, error) {
	id, found := text(m.Headers[broker.HeaderID])
	if !found {
		return broker.Delivery{}, ErrForeign
	}
	d := broker.Delivery{
		Message: postbag.Message{Topic: m.RoutingKey, Payload: m.Body, Headers: map[string]string{}},
		Attempt: 1,
	}
	var err error
	if d.ID, err = postbag.ParseID(id); err != nil {
		return broker.Delivery{}, fmt.Errorf("rabbitbroker: header %s: %w", broker.HeaderID, err)
	}
	d.Key, _ = text(m.Headers[broker.HeaderKey])
	d.Type, _ = text(m.Headers[broker.HeaderType])
	if at, found := text(m.Headers[broker.HeaderTime]); found {
		if d.At, err = time.Parse(broker.TimeFormat, at); err != nil {
			return broker.Delivery{}, fmt.Errorf("rabbitbroker: header %s is not a time such as %s; look at who sent it",
				broker.HeaderTime, broker.TimeFormat)
		}
	}
	for name, value := range m.Headers {
		plain, isText := text(value)
		if isText && (!obeyed(name) || name[0] == '%') {
			d.Headers[rearm(name)] = plain
		}
	}
	return d, nil
}

// text is a header's value where that is text.
func text(value any) (string, bool) {
	switch v := value.(type) {
	case string:
		return v, true
	case []byte:
		return string(v), true
	}
	return "", false
}
