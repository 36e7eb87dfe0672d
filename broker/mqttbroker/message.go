package mqttbroker

import (
	"errors"
	"fmt"
	"time"

	"github.com/eclipse/paho.golang/paho"

	"github.com/postbag/postbag"
	"github.com/postbag/postbag/broker"
)

// ErrForeign says that a message carries no Postbag-Id: it was not published by
// Postbag, or not in its plain form.
var ErrForeign = errors.New("mqttbroker: the message has no user property " + broker.HeaderID + "; decode it by its sender's rules")

// Message gives a consumer the message that was published: facts and headers as
// they were before this package encoded them, the payload as it is. At is when the
// producer's database stored it; Seq, Box and Subscription stay with the sender. A
// message of someone else's is ErrForeign. The payload is p's, not a copy.
func Message(p *paho.Publish) (broker.Delivery, error) {
	d := broker.Delivery{Message: postbag.Message{Topic: p.Topic, Payload: p.Payload, Headers: map[string]string{}}, Attempt: 1}
	if p.Properties == nil {
		return broker.Delivery{}, ErrForeign
	}
	found := false
	for _, u := range p.Properties.User {
		var err error
		switch u.Key {
		case broker.HeaderID:
			found = true
			d.ID, err = postbag.ParseID(u.Value)
		case broker.HeaderKey:
			d.Key = broker.Unescape(u.Value)
		case broker.HeaderType:
			d.Type = broker.Unescape(u.Value)
		case headerTopic:
			d.Topic = broker.Unescape(u.Value)
		case broker.HeaderTime:
			if d.At, err = time.Parse(broker.TimeFormat, u.Value); err != nil {
				err = fmt.Errorf("it is not a time such as %s", broker.TimeFormat)
			}
		default:
			if !broker.IsFact(u.Key) { // a fact of a later version
				d.Headers[broker.Unescape(u.Key)] = broker.Unescape(u.Value)
			}
		}
		if err != nil {
			return broker.Delivery{}, fmt.Errorf("mqttbroker: user property %s: %w; look at who sent it", u.Key, err)
		}
	}
	if !found {
		return broker.Delivery{}, ErrForeign
	}
	return d, nil
}
