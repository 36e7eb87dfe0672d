package watermillbroker

import (
	"maps"
	"slices"

	"github.com/ThreeDotsLabs/watermill/message"

	"github.com/postbag/postbag/source"
)

// decode makes the source's message of Watermill's. It has no Receipt yet, and its payload
// is the subscriber's.
func (o SourceOptions) decode(a *arrival) source.Message {
	m := source.Message{
		Topic: a.topic, MessageID: a.m.UUID, Payload: a.m.Payload,
		Headers: make(source.Headers, 0, len(a.m.Metadata)),
	}
	if o.KeyMetadata != "" {
		m.Key = a.m.Metadata.Get(o.KeyMetadata)
	}
	for _, name := range slices.Sorted(maps.Keys(a.m.Metadata)) {
		m.Headers = append(m.Headers, source.Header{Name: name, Value: a.m.Metadata[name]})
	}
	return m
}

// size is what counts for SourceOptions.Bytes.
func size(m *message.Message) int64 {
	n := len(m.Payload) + len(m.UUID)
	for name, value := range m.Metadata {
		n += len(name) + len(value)
	}
	return int64(n)
}
