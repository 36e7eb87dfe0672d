package postbag

import (
	"bytes"
	"maps"
	"time"
)

// Message is what you publish. Every field may be zero, and says what that means. So a
// message can be as short as a topic and a payload. Publishing never changes a Message,
// or what it points to.
type Message struct {
	// ID identifies the message for ever: every delivery carries the same ID. Zero:
	// Publish draws one with NewID. Set it if you need to know it afterwards, for example
	// to cancel a scheduled message.
	ID ID
	// Topic is where the message goes: a subject, a topic, a stream, a path. At
	// most MaxName bytes. Zero: the name of the box.
	Topic string
	// Key keeps messages in order: messages of one key are delivered in commit order. At
	// most MaxKey bytes. Zero: the message has no order with others.
	Key string
	// ShardKey decides the slot in place of Key. Use it to keep several keys on one
	// shard. One Key must always have the same ShardKey. At most MaxKey bytes. Zero: Key.
	ShardKey string
	// Type names the kind of event, such as "order.created". Subscriptions
	// filter and route by it. At most MaxName bytes. Zero: no type.
	Type string
	// Headers go with the message. Names and values are UTF-8 without NUL. No name is
	// empty or begins with "Postbag-", in any case. Together they hold at most MaxHeader
	// bytes. Zero: only the publisher's own.
	Headers map[string]string
	// Payload is sent bit for bit. Its limit is PublisherOptions.MaxSize. Zero:
	// an empty payload.
	Payload []byte
	// NotBefore schedules the message. Until then it is outside its key's order. It joins
	// the log when it is due, by the database's clock. Its year is between 1970 and 9999.
	// Zero or past: at once.
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

// Equal says whether m and o are the same message in every field. Nil and empty headers
// are equal, and so are nil and empty payloads. Times are equal if they are the same
// instant.
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
