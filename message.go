package postbag

import (
	"bytes"
	"maps"
	"time"
)

// Message is what an application publishes. The zero value of every field but
// Payload has a meaning of its own, so a message may be as short as a topic and
// a payload. Publishing never changes a Message, nor what it points to.
type Message struct {
	// ID identifies the message for ever: every delivery of it carries the same
	// ID. Zero: Publish draws one with NewID. Set it to know it afterwards, to
	// cancel a scheduled message for instance.
	ID ID
	// Topic is where the message goes: a subject, a topic, a stream, a path. At
	// most MaxName bytes. Zero: the name of the box.
	Topic string
	// Key orders: messages of one key are delivered in commit order. At most
	// MaxKey bytes. Zero: the message is ordered with no other.
	Key string
	// ShardKey decides the slot in place of Key, to keep several keys on one
	// shard. One Key must always have one ShardKey. At most MaxKey bytes. Zero:
	// Key.
	ShardKey string
	// Type names the kind of event, such as "order.created". Subscriptions
	// filter and route by it. At most MaxName bytes. Zero: no type.
	Type string
	// Headers travel with the message. Names and values are UTF-8 without NUL,
	// no name is empty or begins with "Postbag-" in any case, and together they
	// hold at most MaxHeader bytes. Zero: none but the publisher's own.
	Headers map[string]string
	// Payload is sent bit for bit. Its limit is PublisherOptions.MaxSize. Zero:
	// an empty payload.
	Payload []byte
	// NotBefore schedules the message: it is outside its key's order until
	// then, and joins the log when it is due, by the database's clock. Its year
	// is between 1970 and 9999. Zero or past: at once.
	NotBefore time.Time

	// fault is why an Event could not make this message. Publishing it reports
	// the fault, with the message's index filled in.
	fault *MessageError
}

// Limits on a message's parts, in bytes. Every box refuses more.
const (
	MaxKey     = 1024     // Key and ShardKey, each
	MaxName    = 255      // Topic and Type, each
	MaxHeader  = 64 << 10 // all Headers together, as the JSON object that is stored
	MaxPayload = 16 << 20 // the most that PublisherOptions.MaxSize may be
)

// Equal says whether m and o are the same message in every field. Headers that
// are nil and empty are equal, and so are payloads; times are equal as instants.
func (m Message) Equal(o Message) bool {
	return m.ID == o.ID && m.Topic == o.Topic && m.Key == o.Key && m.ShardKey == o.ShardKey &&
		m.Type == o.Type && maps.Equal(m.Headers, o.Headers) && bytes.Equal(m.Payload, o.Payload) &&
		m.NotBefore.Equal(o.NotBefore) && m.fault == o.fault
}

// Clone returns a copy of m that shares neither Headers nor Payload with it.
func (m Message) Clone() Message {
	m.Headers = maps.Clone(m.Headers)
	m.Payload = bytes.Clone(m.Payload)
	return m
}
