package brokertest

import (
	"fmt"
	"maps"
	"time"

	"github.com/postbag/postbag"
	"github.com/postbag/postbag/broker"
)

// Received is a message as the broker holds it.
type Received struct {
	ID      postbag.ID // zero: the broker holds none
	Topic   string
	Key     string
	Type    string
	At      time.Time // zero: the broker holds none
	Headers map[string]string
	Payload []byte
}

// FromHeaders decodes what a transport with text headers delivered. The facts Postbag-Id,
// -Key, -Type and -Time become fields, the others stay headers. A fact that is not well
// formed is an error.
func FromHeaders(topic string, headers map[string]string, payload []byte) (Received, error) {
	r := Received{Topic: topic, Headers: maps.Clone(headers), Payload: payload}
	if r.Headers == nil {
		r.Headers = map[string]string{}
	}
	if text, ok := r.take(broker.HeaderID); ok {
		id, err := postbag.ParseID(text)
		if err != nil {
			return r, fmt.Errorf("brokertest: header %s: %w", broker.HeaderID, err)
		}
		r.ID = id
	}
	if text, ok := r.take(broker.HeaderTime); ok {
		at, err := time.Parse(broker.TimeFormat, text)
		if err != nil || broker.FormatTime(at) != text {
			return r, fmt.Errorf("brokertest: header %s is %q; write it with broker.FormatTime", broker.HeaderTime, text)
		}
		r.At = at
	}
	for name, field := range map[string]*string{broker.HeaderKey: &r.Key, broker.HeaderType: &r.Type} {
		text, ok := r.take(name)
		if ok && text == "" {
			return r, fmt.Errorf("brokertest: header %s is empty; leave it out", name)
		}
		*field = text
	}
	return r, nil
}

// FromASCII is FromHeaders for a transport whose headers are ASCII: it undoes
// broker.Escape on names and values. A header whose encoded name is not a fact's
// stays a header, whatever it is called once decoded.
func FromASCII(topic string, headers map[string]string, payload []byte) (Received, error) {
	facts, others := map[string]string{}, map[string]string{}
	for name, value := range headers {
		switch name {
		case broker.HeaderID, broker.HeaderKey, broker.HeaderType, broker.HeaderTime:
			facts[name] = broker.Unescape(value)
		default:
			others[broker.Unescape(name)] = broker.Unescape(value)
		}
	}
	r, err := FromHeaders(topic, facts, payload)
	r.Headers = others
	return r, err
}

func (r *Received) take(name string) (string, bool) {
	text, ok := r.Headers[name]
	delete(r.Headers, name)
	return text, ok
}
