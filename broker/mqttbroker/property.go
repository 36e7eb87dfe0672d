package mqttbroker

import (
	"math"
	"time"

	"github.com/eclipse/paho.golang/packets"

	"github.com/postbag/postbag/broker"
	"github.com/postbag/postbag/broker/brokerkit"
)

// Headers that become properties of the PUBLISH packet.
const (
	propertyExpiry          = "mqtt.expiry"
	propertyContentType     = "mqtt.content_type"
	propertyResponseTopic   = "mqtt.response_topic"
	propertyCorrelationData = "mqtt.correlation_data"
)

// properties are those that messages may have. docs/reference/mqtt.md has the table.
var properties = []brokerkit.Property{
	{Name: propertyExpiry, Allowed: "a duration of whole seconds, such as 90s, from 1s to 1193046h", Valid: func(value string) bool {
		_, ok := brokerkit.Span(value, time.Second, math.MaxUint32)
		return ok
	}},
	{Name: propertyContentType, Allowed: "text of 1 to 65535 bytes without control characters", Valid: isText},
	{Name: propertyResponseTopic, Allowed: "a topic of 1 to 65535 bytes without wildcards and control characters", Valid: func(value string) bool {
		return badTopic(value) == ""
	}},
	{Name: propertyCorrelationData, Allowed: "text of 1 to 65535 bytes", Valid: func(value string) bool {
		return value != "" && len(value) <= maxText
	}},
}

func isText(value string) bool { return value != "" && badText(value) == "" }

// CheckHeaders returns an error if headers hold a property that a destination of this
// package rejects in every message: an "mqtt." header that there is not, or a value that is
// not allowed. It names each, and no value. Use it in postbag.PublisherOptions.Check.
func CheckHeaders(headers map[string]string) error {
	if f := adapter.CheckProperties(properties, headers); f != nil {
		return f
	}
	return nil
}

// CheckHeaders implements broker.HeaderChecker.
func (d *Destination) CheckHeaders(headers map[string]string) error { return CheckHeaders(headers) }

// setProperties sets what m's headers say. They were checked.
func setProperties(p *packets.Properties, m *broker.Delivery) {
	if value, set := m.Headers[propertyExpiry]; set {
		wide, _ := brokerkit.Span(value, time.Second, math.MaxUint32)
		seconds := uint32(wide) // Span bounds it
		p.MessageExpiry = &seconds
	}
	if value, set := m.Headers[propertyContentType]; set {
		p.ContentType = value
	}
	p.ResponseTopic = m.Headers[propertyResponseTopic]
	if value, set := m.Headers[propertyCorrelationData]; set {
		p.CorrelationData = []byte(value)
	}
}
