package sourcekit

import (
	"net/url"

	"github.com/postbag/postbag/source"
)

// KeyRule finds the key of a message, by which it is ordered. It returns the empty text if
// there is none. It is safe for concurrent use, and never changes the message. Any function
// of this kind can be one.
type KeyRule func(m *source.Message) string

// Keys are rules, tried in this sequence. The first that finds a key decides. If none does,
// the message has no key, and no order with others.
type Keys []KeyRule

// DefaultKeys are: the broker's key, Postbag-Key, and the attribute partitionkey of
// CloudEvents. binding is that of Features. In HTTP and NATS headers are percent-encoded, and
// in MQTT Postbag-Key is; the key is decoded.
func DefaultKeys(binding string) Keys {
	header := KeyHeader
	if binding == "http" || binding == "nats" {
		header = func(name string) KeyRule { return Unescaped(KeyHeader(name)) }
	}
	keys := Keys{MessageKey, postbagHeader(binding, "Postbag-Key")}
	for _, prefix := range eventPrefixes {
		keys = append(keys, header(prefix+"partitionkey"))
	}
	return append(keys, unprefixed("partitionkey"))
}

// postbagHeader is the rule that takes a header that a relay wrote.
func postbagHeader(binding, name string) KeyRule {
	switch binding {
	case "http", "nats", "mqtt":
		return Unescaped(KeyHeader(name))
	}
	return KeyHeader(name)
}

// unprefixed is the rule that takes an attribute of CloudEvents as MQTT has it: without a
// prefix.
func unprefixed(name string) KeyRule {
	attribute := KeyHeader(name)
	return func(m *source.Message) string {
		if _, ok := m.Headers.Get("specversion"); !ok {
			return ""
		}
		return attribute(m)
	}
}

// Of returns the key of a message.
func (keys Keys) Of(m *source.Message) string {
	for _, find := range keys {
		if key := find(m); key != "" {
			return key
		}
	}
	return ""
}

// MessageKey is the rule that takes the broker's own key.
func MessageKey(m *source.Message) string { return m.Key }

// KeyHeader is the rule that takes the value of a header, as source.Headers.Get finds it.
func KeyHeader(name string) KeyRule {
	return func(m *source.Message) string {
		value, _ := m.Headers.Get(name)
		return value
	}
}

// Unescaped is the rule that undoes the percent-encoding of what another found. What is not
// encoded properly stays as it is.
func Unescaped(rule KeyRule) KeyRule {
	return func(m *source.Message) string {
		key := rule(m)
		if plain, err := url.PathUnescape(key); err == nil {
			return plain
		}
		return key
	}
}
