package rabbitbroker

import (
	"math"
	"strconv"
	"time"
	"unicode/utf8"

	"github.com/postbag/postbag/broker"
	"github.com/postbag/postbag/broker/brokerkit"
)

// Headers that become properties of the message in AMQP.
const (
	propertyPriority      = "rabbitmq.priority"
	propertyExpiration    = "rabbitmq.expiration"
	propertyType          = "rabbitmq.type"
	propertyCorrelationID = "rabbitmq.correlation_id"
	propertyReplyTo       = "rabbitmq.reply_to"
)

// replyDirectly is a queue that only who consumes from it may name. The server closes the
// channel of anybody else.
const replyDirectly = "amq.rabbitmq.reply-to"

// properties are those that messages may have. docs/reference/rabbitmq.md has the table.
var properties = []brokerkit.Property{
	{Name: propertyPriority, Allowed: "a whole number from 0 to 255", Valid: func(value string) bool {
		_, ok := brokerkit.WholeNumber(value, math.MaxUint8)
		return ok
	}},
	{Name: propertyExpiration, Allowed: "a duration of whole milliseconds, such as 90s, from 1ms to 1193h", Valid: func(value string) bool {
		_, ok := brokerkit.Span(value, time.Millisecond, maxExpiration)
		return ok
	}},
	{Name: propertyType, Allowed: "text of 1 to 255 bytes", Valid: isShort},
	{Name: propertyCorrelationID, Allowed: "text of 1 to 255 bytes", Valid: isShort},
	{Name: propertyReplyTo, Allowed: "the name of a queue, of 1 to 255 bytes, and not " + replyDirectly, Valid: func(value string) bool {
		return isShort(value) && value != replyDirectly
	}},
}

// maxExpiration is in milliseconds: the server takes 32 bits.
const maxExpiration = uint64(1193 * time.Hour / time.Millisecond)

func isShort(value string) bool {
	return value != "" && len(value) <= maxShort && utf8.ValidString(value)
}

// CheckHeaders returns an error if headers hold a property that a destination of this
// package rejects in every message: a "rabbitmq." header that there is not, or a value that
// is not allowed. It names each, and no value. Use it in postbag.PublisherOptions.Check.
func CheckHeaders(headers map[string]string) error {
	if f := adapter.CheckProperties(properties, headers); f != nil {
		return f
	}
	return nil
}

// CheckHeaders implements broker.HeaderChecker.
func (d *Destination) CheckHeaders(headers map[string]string) error { return CheckHeaders(headers) }

// priority is the property of m, whose headers were checked.
func priority(m *broker.Delivery) uint8 {
	n, _ := brokerkit.WholeNumber(m.Headers[propertyPriority], math.MaxUint8)
	return uint8(n) // WholeNumber bounds it
}

// expiration is the property of m, whose headers were checked: milliseconds.
func expiration(m *broker.Delivery) string {
	value, set := m.Headers[propertyExpiration]
	if !set {
		return ""
	}
	n, _ := brokerkit.Span(value, time.Millisecond, maxExpiration)
	return strconv.FormatUint(n, 10)
}
