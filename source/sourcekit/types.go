package sourcekit

import (
	"encoding/json"

	"github.com/postbag/postbag/source"
)

// TypeRule is the rule that finds the kind of event which a message says it is: Postbag-Type,
// or the type of an event of CloudEvents, from headers or from the document in structured
// mode, or the header eventType beside the header id, as Debezium's outbox event router is
// usually set up. It finds the empty text if the message says none. In HTTP and NATS headers are
// percent-encoded, and in MQTT Postbag-Type is; the type is decoded. binding is that of Features.
func TypeRule(binding string) KeyRule {
	header := KeyHeader
	if binding == "http" || binding == "nats" {
		header = func(name string) KeyRule { return Unescaped(KeyHeader(name)) }
	}
	types := Keys{postbagHeader(binding, "Postbag-Type")}
	for _, prefix := range eventPrefixes {
		types = append(types, header(prefix+"type"))
	}
	types = append(types, unprefixed("type"), debeziumType)
	return func(m *source.Message) string {
		if kind := types.Of(m); kind != "" {
			return kind
		}
		if _, ok := m.Headers.Get("specversion"); ok {
			return ""
		}
		if !structured(m) {
			return ""
		}
		var event struct {
			Type string `json:"type"`
		}
		if json.Unmarshal(m.Payload, &event) != nil {
			return ""
		}
		return event.Type
	}
}

// debeziumType is the rule that takes the type of what Debezium's outbox event router sent.
func debeziumType(m *source.Message) string {
	if _, ok := m.Headers.Get("id"); !ok {
		return ""
	}
	kind, _ := m.Headers.Get("eventType")
	return kind
}
