package redisbroker

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/postbag/postbag"
	"github.com/postbag/postbag/broker"
)

// ErrForeign says that an entry carries no Postbag-Id: it was not added by Postbag,
// or not in its plain form.
var ErrForeign = errors.New("redisbroker: the entry has no field " + broker.HeaderID + "; decode it by its writer's rules")

// Message gives a consumer the message that was published: facts and headers as
// they were, the payload as it is. At is when the producer's database stored it;
// Seq, Box and Subscription stay with the sender. An entry of someone else's is
// ErrForeign.
func Message(x redis.XMessage) (broker.Delivery, error) {
	text, ok := x.Values[broker.HeaderID].(string)
	if !ok {
		return broker.Delivery{}, ErrForeign
	}
	id, err := postbag.ParseID(text)
	if err != nil {
		return broker.Delivery{}, fmt.Errorf("redisbroker: field %s: %w", broker.HeaderID, err)
	}
	d := broker.Delivery{Message: postbag.Message{ID: id, Headers: map[string]string{}}, Attempt: 1}
	for name, value := range x.Values {
		text, _ := value.(string)
		switch name {
		case broker.HeaderID:
		case fieldTopic:
			d.Topic = text
		case broker.HeaderKey:
			d.Key = text
		case broker.HeaderType:
			d.Type = text
		case fieldPayload:
			d.Payload = []byte(text)
		case broker.HeaderTime:
			if d.At, err = time.Parse(broker.TimeFormat, text); err != nil {
				return broker.Delivery{}, fmt.Errorf("redisbroker: field %s is not a time such as %s; look at who added the entry",
					broker.HeaderTime, broker.TimeFormat)
			}
		default:
			if !broker.IsFact(name) { // a fact of a later version
				d.Headers[strings.TrimPrefix(name, prefixHeader)] = text
			}
		}
	}
	return d, nil
}
