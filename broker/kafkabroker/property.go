package kafkabroker

import (
	"math"
	"time"

	"github.com/postbag/postbag/broker"
	"github.com/postbag/postbag/broker/brokerkit"
)

// Headers that say where a record goes, and its time.
const (
	propertyPartition = "kafka.partition"
	propertyTimestamp = "kafka.timestamp"
)

// properties are those that messages may have. docs/reference/kafka.md has the table.
var properties = []brokerkit.Property{
	{Name: propertyPartition, Allowed: "a whole number from 0 on", Valid: func(value string) bool {
		_, ok := brokerkit.WholeNumber(value, math.MaxInt32)
		return ok
	}},
	{Name: propertyTimestamp, Allowed: "a time by RFC 3339, such as 2026-01-31T12:00:00Z, from 1970 to 2261", Valid: func(value string) bool {
		at, err := time.Parse(time.RFC3339, value)
		return err == nil && at.UnixMilli() >= 0 && at.UTC().Year() <= lastYear
	}},
}

// lastYear is the last whole one of which the client library makes the right time: it counts
// nanoseconds in 64 bits. Later times would become earlier ones, which retention removes.
const lastYear = 2261

// CheckHeaders returns an error if headers hold a property that a destination of this
// package rejects in every message: a "kafka." header that there is not, or a value that is
// not allowed. It names each, and no value. Whether a topic has the partition shows at
// delivery. Use it in postbag.PublisherOptions.Check.
func CheckHeaders(headers map[string]string) error {
	if f := adapter.CheckProperties(properties, headers); f != nil {
		return f
	}
	return nil
}

// CheckHeaders implements broker.HeaderChecker.
func (d *Destination) CheckHeaders(headers map[string]string) error { return CheckHeaders(headers) }

// partition is the one that m names, if it does. Its headers were checked.
func partition(m *broker.Delivery) (n int32, named bool) {
	value, named := m.Headers[propertyPartition]
	if !named {
		return 0, false
	}
	wide, _ := brokerkit.WholeNumber(value, math.MaxInt32)
	return int32(wide), true // WholeNumber bounds it
}

// recordTime is the one that m names, if it does. Its headers were checked.
func recordTime(m *broker.Delivery) (at time.Time, named bool) {
	value, named := m.Headers[propertyTimestamp]
	if !named {
		return at, false
	}
	at, _ = time.Parse(time.RFC3339, value) // checked
	return at, true
}
