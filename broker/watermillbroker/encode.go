package watermillbroker

import (
	"maps"
	"strings"

	"github.com/ThreeDotsLabs/watermill/message"

	"github.com/postbag/postbag/broker"
)

const (
	// metadataUUID is the header in which a message that came from Watermill keeps
	// its UUID in the box.
	metadataUUID        = "Watermill-Uuid"
	metadataContentType = "Content-Type"
)

// encode makes Watermill's message of m: its UUID is the one that it had in
// Watermill, or else the message's id.
func (o Options) encode(m *broker.Delivery) *message.Message {
	id := m.ID.String()
	uuid := m.Headers[metadataUUID]
	if uuid == "" {
		uuid = id
	}
	w := message.NewMessage(uuid, m.Payload)
	if m.Wire != nil {
		maps.Copy(w.Metadata, m.Wire.Headers)
		if m.Wire.ContentType != "" {
			w.Metadata[o.contentType()] = m.Wire.ContentType
		}
	} else {
		plain(w.Metadata, m, id)
	}
	if o.KeyMetadata != "" && m.Key != "" {
		w.Metadata[o.KeyMetadata] = m.Key
	}
	return w
}

// contentType is where an encoder's content type goes.
func (o Options) contentType() string {
	if o.Binding == broker.BindingKafka || o.Binding == broker.BindingRedis {
		return strings.ToLower(metadataContentType)
	}
	return metadataContentType
}

// plain adds headers and facts, the facts last, so that no header passes for one.
func plain(to message.Metadata, m *broker.Delivery, id string) {
	for name, value := range m.Headers {
		if name != metadataUUID && (!reserved(name) || name == broker.HeaderReplay) && !broker.IsProperty(name) {
			to[name] = value
		}
	}
	to[broker.HeaderID] = id
	if m.Key != "" {
		to[broker.HeaderKey] = m.Key
	}
	if m.Type != "" {
		to[broker.HeaderType] = m.Type
	}
	if !m.At.IsZero() {
		to[broker.HeaderTime] = broker.FormatTime(m.At)
	}
}
