package mqttbroker

import (
	"fmt"
	"maps"
	"slices"

	"github.com/eclipse/paho.golang/packets"

	"github.com/postbag/postbag/broker"
)

const (
	// headerTopic carries the message's topic where it is not the one published to.
	headerTopic = "Postbag-Topic"
	// largestPacket is the most that a packet's length can say (section 1.5.5), and
	// its first five bytes.
	largestPacket = 268_435_455 + 5
)

// build makes the packet of m for a connection.
func (d *Destination) build(m *broker.Delivery, l *limits) (*packets.Publish, *broker.Error) {
	topic, f := d.options.topic(m)
	if f == nil {
		f = adapter.CheckProperties(properties, m.Headers)
	}
	if f != nil {
		return nil, f
	}
	switch {
	case d.options.QoS > int(l.qos):
		return nil, adapter.Failure(broker.Misconfigured, fmt.Sprintf("the broker takes QoS %d at most", l.qos), "lower Options.QoS, or use another broker")
	case d.options.Retain && !l.retain:
		return nil, adapter.Failure(broker.Misconfigured, "the broker retains no messages", "unset Options.Retain, or use another broker")
	}
	p := &packets.Publish{Topic: topic, QoS: byte(d.options.QoS), Retain: d.options.Retain, Payload: m.Payload, Properties: &packets.Properties{}}
	if m.Wire != nil {
		p.Properties.User, f = wireProperties(m.Wire)
		p.Properties.ContentType = m.Wire.ContentType
	} else {
		p.Properties.User = plainProperties(m, topic)
	}
	setProperties(p.Properties, m)
	if f == nil {
		f = fits(p, int(l.packet))
	}
	return p, f
}

// plainProperties are m's facts and headers.
func plainProperties(m *broker.Delivery, topic string) []packets.User {
	user := make([]packets.User, 0, 5+len(m.Headers))
	add := func(name, value string) { user = append(user, packets.User{Key: name, Value: value}) }
	add(broker.HeaderID, m.ID.String())
	if m.Topic != topic {
		add(headerTopic, escape(m.Topic))
	}
	if m.Key != "" {
		add(broker.HeaderKey, escape(m.Key))
	}
	if m.Type != "" {
		add(broker.HeaderType, escape(m.Type))
	}
	if !m.At.IsZero() {
		add(broker.HeaderTime, broker.FormatTime(m.At))
	}
	for _, name := range sortedNames(m.Headers) {
		if broker.IsProperty(name) {
			continue
		}
		safe := escape(name)
		if broker.IsFact(safe) {
			safe = disarm(safe)
		}
		add(safe, escape(m.Headers[name]))
	}
	return user
}

// wireProperties are what an encoder made, as it is.
func wireProperties(w *broker.Wire) ([]packets.User, *broker.Error) {
	user := make([]packets.User, 0, len(w.Headers))
	reason := badText(w.ContentType)
	for _, name := range sortedNames(w.Headers) {
		value := w.Headers[name]
		if reason == "" {
			reason = badText(name)
		}
		if reason == "" {
			reason = badText(value)
		}
		user = append(user, packets.User{Key: name, Value: value})
	}
	if reason != "" {
		return nil, adapter.Failure(broker.Rejected, "what the encoder made for a user property or the content type "+reason, "have it encode that first")
	}
	return user, nil
}

// sortedNames give a message the same bytes in every attempt.
func sortedNames(headers map[string]string) []string {
	if len(headers) == 0 {
		return nil
	}
	return slices.Sorted(maps.Keys(headers))
}

// fits says why p cannot be sent to a broker that takes packets of so many bytes.
func fits(p *packets.Publish, limit int) *broker.Error {
	properties := 0
	for _, u := range p.Properties.User {
		if len(u.Key) > maxText || len(u.Value) > maxText {
			return adapter.Failure(broker.Rejected, fmt.Sprintf("a header, key or type takes more than %d bytes once encoded", maxText), "send less in it")
		}
		properties += 1 + 2 + len(u.Key) + 2 + len(u.Value)
	}
	for _, part := range [...]int{len(p.Properties.ContentType), len(p.Properties.ResponseTopic), len(p.Properties.CorrelationData)} {
		if part > 0 {
			properties += 1 + 2 + part
		}
	}
	if p.Properties.MessageExpiry != nil {
		properties += 1 + 4
	}
	rest := 2 + len(p.Topic) + 2 + lengthOf(properties) + properties + len(p.Payload)
	if size := 1 + lengthOf(rest) + rest; size > limit {
		return adapter.Failure(broker.Rejected, fmt.Sprintf("the packet has %d bytes, the broker takes %d", size, limit),
			"send less, or raise the broker's largest packet")
	}
	return nil
}

// lengthOf is how many bytes a length takes (section 1.5.5).
func lengthOf(n int) int {
	switch {
	case n < 1<<7:
		return 1
	case n < 1<<14:
		return 2
	case n < 1<<21:
		return 3
	default:
		return 4
	}
}
