package kafkabroker

import (
	"errors"
	"fmt"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/postbag/postbag"
	"github.com/postbag/postbag/broker"
)

// ErrForeign says that a record carries no Postbag-Id: it was not sent by Postbag,
// or not with its own encoding.
var ErrForeign = errors.New("kafkabroker: the record has no " + broker.HeaderID + " header; decode it by its sender's rules")

// Message gives a consumer the message that was published: facts and headers as
// they were before this package encoded them, the value as payload, the Kafka topic
// as Topic. At is when the producer's database stored it; Seq, Box and Subscription
// stay with the sender. A record of someone else's is ErrForeign. The payload is
// r's, not a copy.
func Message(r *kgo.Record) (broker.Delivery, error) {
	d := broker.Delivery{
		Message: postbag.Message{Topic: r.Topic, Payload: r.Value, Headers: map[string]string{}},
		Attempt: 1,
	}
	found := false
	for _, h := range r.Headers {
		var err error
		switch h.Key {
		case broker.HeaderID:
			found = true
			if d.ID, err = postbag.ParseID(string(h.Value)); err != nil {
				return broker.Delivery{}, fmt.Errorf("kafkabroker: header %s: %w", broker.HeaderID, err)
			}
		case broker.HeaderKey:
			d.Key = string(h.Value)
		case broker.HeaderType:
			d.Type = string(h.Value)
		case broker.HeaderTime:
			if d.At, err = time.Parse(broker.TimeFormat, string(h.Value)); err != nil {
				return broker.Delivery{}, fmt.Errorf("kafkabroker: header %s is not a time such as %s; look at who sent it",
					broker.HeaderTime, broker.TimeFormat)
			}
		default:
			if !broker.IsFact(h.Key) {
				d.Headers[unescapeName(h.Key)] = string(h.Value)
			}
		}
	}
	if !found {
		return broker.Delivery{}, ErrForeign
	}
	return d, nil
}
