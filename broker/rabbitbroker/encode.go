package rabbitbroker

import (
	"strings"
	"time"
	"unicode/utf8"

	amqp "github.com/rabbitmq/amqp091-go"

	"github.com/postbag/postbag/broker"
)

// obeyed says whether the server, or Message, would take a header of this name for
// its own. CC and BCC lead copies of a message elsewhere; the others the server
// reads where it moves messages on, and a text is not what it expects there.
func obeyed(name string) bool {
	switch name {
	case "CC", "BCC", "x-death", "x-received-from", "x-shovelled", "x-delivery-count", "x-stream-offset":
		return true
	}
	return broker.IsFact(name) || strings.HasPrefix(name, "%")
}

// disarm encodes the first letter of a name, so that nobody obeys it: %43C. Every
// name that begins with a percent sign on the wire was made so.
func disarm(name string) string {
	const digits = "0123456789ABCDEF"
	return string([]byte{'%', digits[name[0]>>4], digits[name[0]&15]}) + name[1:]
}

// rearm is the inverse of disarm.
func rearm(name string) string {
	if len(name) < 3 || name[0] != '%' {
		return name
	}
	return broker.Unescape(name[:3]) + name[3:]
}

// writer makes what goes over the wire, one message after the other in the same
// memory: the client encodes a message before its Publish returns.
type writer struct {
	table amqp.Table
}

// publishing makes m's.
func (w *writer) publishing(m *broker.Delivery, id string) amqp.Publishing {
	clear(w.table)
	p := amqp.Publishing{
		Headers: w.table, DeliveryMode: amqp.Persistent, MessageId: id, Body: m.Payload,
		ContentType: contentType(m), Type: typeProperty(m), Timestamp: timestamp(m),
		Priority: priority(m), Expiration: expiration(m), CorrelationId: m.Headers[propertyCorrelationID], ReplyTo: m.Headers[propertyReplyTo],
	}
	if m.Wire != nil {
		for name, value := range m.Wire.Headers {
			w.table[name] = value
		}
		return p
	}
	w.table[broker.HeaderID] = id
	if m.Key != "" {
		w.table[broker.HeaderKey] = m.Key
	}
	if m.Type != "" {
		w.table[broker.HeaderType] = m.Type
	}
	if !m.At.IsZero() {
		w.table[broker.HeaderTime] = broker.FormatTime(m.At)
	}
	for name, value := range m.Headers {
		if broker.IsProperty(name) {
			continue
		}
		if obeyed(name) {
			name = disarm(name)
		}
		w.table[name] = value
	}
	return p
}

// contentType is the property: the encoder's, else what the message's own header
// of that name says.
func contentType(m *broker.Delivery) string {
	if m.Wire != nil {
		return m.Wire.ContentType
	}
	for _, name := range [...]string{"Content-Type", "content-type"} {
		if text := m.Headers[name]; text != "" {
			return property(text)
		}
	}
	return ""
}

func typeProperty(m *broker.Delivery) string {
	if text, set := m.Headers[propertyType]; set {
		return text
	}
	return property(m.Type)
}

// property is text if a property can hold it, else empty.
func property(text string) string {
	if len(text) > maxShort || !utf8.ValidString(text) {
		return ""
	}
	return text
}

// timestamp is the property, which counts seconds and knows none before 1970.
func timestamp(m *broker.Delivery) time.Time {
	if m.At.Unix() <= 0 {
		return time.Time{}
	}
	return m.At
}

// Bytes of a content header frame beside texts: frame and fixed fields, and the
// fields that every message has.
const (
	headerFixed = 8 + 14 + 4 + 1 + 8 // frame, fixed fields, length of the table, delivery mode, timestamp
	entryFixed  = 1 + 1 + 4          // lengths of name and value, kind of value
)

// shortSize is what a property of text takes.
func shortSize(text string) int {
	if text == "" {
		return 0
	}
	return 1 + len(text)
}

// headerSize is what the content header frame of m takes at most, in bytes, and
// the length of the longest header name.
func headerSize(m *broker.Delivery, id string) (size, longest int) {
	size = headerFixed + shortSize(id) + shortSize(contentType(m)) + shortSize(typeProperty(m)) +
		shortSize(expiration(m)) + shortSize(m.Headers[propertyCorrelationID]) + shortSize(m.Headers[propertyReplyTo])
	if priority(m) > 0 {
		size++
	}
	add := func(name, value int) {
		size += entryFixed + name + value
		longest = max(longest, name)
	}
	if m.Wire != nil {
		for name, value := range m.Wire.Headers {
			add(len(name), len(value))
		}
		return size, longest
	}
	add(len(broker.HeaderID), len(id))
	if m.Key != "" {
		add(len(broker.HeaderKey), len(m.Key))
	}
	if m.Type != "" {
		add(len(broker.HeaderType), len(m.Type))
	}
	add(len(broker.HeaderTime), len(broker.TimeFormat))
	for name, value := range m.Headers {
		if broker.IsProperty(name) {
			continue
		}
		n := len(name)
		if obeyed(name) {
			n += 2
		}
		add(n, len(value))
	}
	return size, longest
}
