package natsbroker

import (
	"strconv"
	"time"

	"github.com/postbag/postbag/broker"
	"github.com/postbag/postbag/broker/brokerkit"
)

// propertyTTL is the header that says how long the stream keeps the message.
const propertyTTL = "nats.ttl"

// keptForEver is the value of a message that outlives the stream's max_age.
const keptForEver = "never"

// maxTTL is a hundred years, in seconds. The server adds a TTL to the time of the message in
// nanoseconds of 64 bits (filestore.go): with one of 240 years the sum is of the past, and
// the message is gone at once.
const maxTTL = uint64(876_000 * time.Hour / time.Second)

// properties are those that messages may have. docs/reference/nats.md has the table.
var properties = []brokerkit.Property{
	{Name: propertyTTL, Allowed: "a duration of whole seconds, such as 90s, from 1s to 876000h, or " + keptForEver, Valid: func(value string) bool {
		_, ok := brokerkit.Span(value, time.Second, maxTTL)
		return ok || value == keptForEver
	}},
}

// CheckHeaders returns an error if headers hold a property that a destination of this
// package rejects in every message: a "nats." header that there is not, or a value that is
// not allowed. It names each, and no value. Use it in postbag.PublisherOptions.Check.
func CheckHeaders(headers map[string]string) error {
	if f := adapter.CheckProperties(properties, headers); f != nil {
		return f
	}
	return nil
}

// CheckHeaders implements broker.HeaderChecker.
func (d *Destination) CheckHeaders(headers map[string]string) error { return CheckHeaders(headers) }

// badProperties says why the properties of m cannot be obeyed, nil when they can.
func badProperties(m *broker.Delivery, pass map[string]bool) *broker.Error {
	if f := adapter.CheckProperties(properties, m.Headers); f != nil {
		return f
	}
	own := m.Headers
	if m.Wire != nil {
		own = m.Wire.Headers
	}
	if _, twice := own[headerTTL]; twice && pass[headerTTL] && ttl(m) != "" {
		return adapter.Failure(broker.Rejected, "the message has both "+propertyTTL+" and the header "+headerTTL+", which Options.PassHeaders lets through", "keep one")
	}
	return nil
}

// ttl is what the server reads, of m, whose headers were checked; empty for none.
func ttl(m *broker.Delivery) string {
	value, set := m.Headers[propertyTTL]
	if !set || value == keptForEver {
		return value
	}
	seconds, _ := brokerkit.Span(value, time.Second, maxTTL)
	return strconv.FormatUint(seconds, 10)
}
