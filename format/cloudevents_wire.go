package format

import (
	"cmp"
	"encoding/json"
	"strings"
	"unicode/utf8"

	"github.com/postbag/postbag/broker"
	"github.com/postbag/postbag/internal/httpfield"
)

const structuredType = "application/cloudevents+json; charset=UTF-8"

// binary sends attributes as headers.
func (e CloudEvents) binary(m *broker.Delivery, binding string, attributes []attribute) {
	w := &broker.Wire{Headers: make(map[string]string, len(attributes)+1+len(m.Headers))}
	prefix := e.prefix(binding)
	for _, a := range attributes {
		w.Headers[prefix+a.name] = attributeValue(a.value, binding)
	}
	if len(m.Payload) == 0 {
		w.Null = true // and what it does not hold has no type
	} else {
		w.ContentType = e.contentType(m)
		if w.ContentType != "" && binding == broker.BindingNATS { // this binding has the attribute like all others
			w.Headers[prefix+"datacontenttype"] = attributeValue(w.ContentType, binding)
		}
	}
	addOwn(w.Headers, m.Headers, binding, func(name string) bool {
		return e.isAttributes(name) || binding == broker.BindingMQTT && (!isAttribute(name) || fixed(name))
	})
	m.Wire = w
}

// prefix is what attribute names begin with on the wire.
func (e CloudEvents) prefix(binding string) string {
	switch binding {
	case broker.BindingHTTP, broker.BindingNATS:
		return "ce-"
	case broker.BindingAMQP:
		return cmp.Or(e.AMQPPrefix, "cloudEvents_")
	case broker.BindingMQTT:
		return ""
	}
	return "ce_"
}

// attributeValue encodes a value by section "HTTP Header Values" of the HTTP
// binding, which NATS shares.
func attributeValue(value, binding string) string {
	if ascii(binding) {
		return broker.Escape(value, `"`)
	}
	return value
}

// isAttributes says whether a header of a message's own is, or looks like, an
// attribute.
func (e CloudEvents) isAttributes(header string) bool {
	_, made := e.attributeOf(header)
	return made || httpfield.HasPrefix(header, "cloudEvents_", "cloudEvents:")
}

// structured sends one document.
func (e CloudEvents) structured(m *broker.Delivery, binding string, attributes []attribute) {
	b := make([]byte, 0, 512+len(m.Payload)*4/3)
	b = append(b, '{')
	for _, a := range attributes {
		b = appendText(appendMember(b, a.name), a.value)
	}
	b = e.appendData(b, m)
	b = append(b, '}')
	w := &broker.Wire{Headers: make(map[string]string, len(m.Headers)), ContentType: structuredType}
	addOwn(w.Headers, m.Headers, binding, e.isAttributes)
	m.Payload, m.Wire = b, w
}

// appendData appends datacontenttype and the payload, by section "Handling of
// data" of the JSON format.
func (e CloudEvents) appendData(b []byte, m *broker.Delivery) []byte {
	if len(m.Payload) == 0 {
		return b
	}
	contentType := strings.ToValidUTF8(e.contentType(m), "")
	if contentType != "" {
		b = appendText(appendMember(b, "datacontenttype"), contentType)
	}
	switch k := kindOf(contentType); {
	case !utf8.Valid(m.Payload):
	case k == jsonKind && json.Valid(m.Payload):
		return append(appendMember(b, "data"), m.Payload...)
	case k == textKind:
		return appendText(appendMember(b, "data"), string(m.Payload))
	}
	return appendBase64(appendMember(b, "data_base64"), m.Payload)
}
