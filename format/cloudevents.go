package format

import (
	"cmp"
	"errors"
	"fmt"
	"net/url"
	"strings"
	"unicode/utf8"

	"github.com/postbag/postbag/broker"
	"github.com/postbag/postbag/internal/httpfield"
)

// Mode says where an event's attributes stand.
type Mode string

// The modes of CloudEvents.
const (
	// Binary leaves the payload as it is and sends attributes as headers. The
	// default.
	Binary Mode = "binary"
	// Structured sends one JSON document with attributes and data.
	Structured Mode = "structured"
)

// Subject says which fact of a message is its event's subject.
type Subject string

// The subjects.
const (
	SubjectKey   Subject = "key" // the default
	SubjectTopic Subject = "topic"
	SubjectNone  Subject = "none"
)

// CloudEvents makes events by version 1.0.2 of the specification, in the form that
// its bindings give to the destination's protocol: HTTP, Kafka, AMQP, NATS or
// MQTT; to others as to Kafka. Attributes are:
//
//	id            the message's id
//	source        Source
//	type          the message's type, or else its topic
//	time          when the message was stored
//	subject       by Subject
//	partitionkey  the message's key, if it has one (the Partitioning extension)
//	datacontenttype  the message's header Content-Type, or else ContentType
//
// A header of the message named "ce-" or "ce_" and an attribute's name sets that
// attribute, except id, time, specversion and datacontenttype; so do the headers
// named in Extensions. All others travel as ordinary headers beside the event, in
// both modes; but not over MQTT in binary mode if their name is no attribute's,
// because there every user property is one.
//
// A message without payload is an event without data, which Kafka, in binary mode,
// carries as null, that is as a tombstone. An attribute that is not UTF-8, holds
// control characters, or has a name beyond lower-case letters and digits makes the
// message Rejected.
type CloudEvents struct {
	// Source is a URI reference that names where events come from. Defaults to
	// "/" and the box's name.
	Source string
	// Mode defaults to Binary.
	Mode Mode
	// Subject defaults to SubjectKey.
	Subject Subject
	// ContentType of a payload whose message has no header Content-Type. Defaults to
	// "application/json"; "-" for none. In structured mode it decides how the payload
	// stands there: JSON as JSON, text as a string, all else, and what is not what it
	// says, in base64.
	ContentType string
	// Extensions name the headers of messages that become attributes: their own name
	// to the attribute's, which has lower-case letters and digits only.
	Extensions map[string]string
	// AMQPPrefix stands before an attribute's name in AMQP. Defaults to
	// "cloudEvents_"; "cloudEvents:" is the binding's older form, "ce-" that of
	// Knative's RabbitMQ binding.
	AMQPPrefix string
}

// KeepsPayload says whether a payload stays as it is.
func (e CloudEvents) KeepsPayload() bool { return e.Mode != Structured }

// Validate returns all faults of the options.
func (e CloudEvents) Validate() error {
	var faults []error
	if _, err := url.Parse(e.Source); err != nil || strings.ContainsAny(e.Source, " \"<>") || badText(e.Source) {
		faults = append(faults, errors.New("format: Source is not a URI reference; write it as /orders or https://example.com/orders"))
	}
	switch e.Mode {
	case "", Binary, Structured:
	default:
		faults = append(faults, fmt.Errorf("format: Mode %q is unknown; choose %s or %s", e.Mode, Binary, Structured))
	}
	switch e.Subject {
	case "", SubjectKey, SubjectTopic, SubjectNone:
	default:
		faults = append(faults, fmt.Errorf("format: Subject %q is unknown; choose %s, %s or %s", e.Subject, SubjectKey, SubjectTopic, SubjectNone))
	}
	switch e.AMQPPrefix {
	case "", "cloudEvents_", "cloudEvents:", "ce-":
	default:
		faults = append(faults, fmt.Errorf("format: the AMQPPrefix %q is unknown; choose cloudEvents_, cloudEvents: or ce-", e.AMQPPrefix))
	}
	if e.ContentType != "" && e.ContentType != "-" && !httpfield.Verbatim(e.ContentType) {
		faults = append(faults, errors.New("format: ContentType is not visible ASCII; write it as application/json is written"))
	}
	seen := map[string]string{}
	for _, header := range inOrder(e.Extensions) {
		name := e.Extensions[header]
		switch before, twice := seen[name]; {
		case !isAttribute(name) || fixed(name):
			faults = append(faults, fmt.Errorf("format: Extensions makes %q of header %q; use lower-case letters and digits, and no name that is set otherwise", name, header))
		case twice:
			faults = append(faults, fmt.Errorf("format: Extensions makes %q of both %q and %q; keep one", name, before, header))
		}
		seen[name] = header
	}
	return errors.Join(faults...)
}

// isAttribute says whether name is one by section "Attribute Naming Convention".
func isAttribute(name string) bool {
	for i := range len(name) {
		if c := name[i]; (c < 'a' || c > 'z') && (c < '0' || c > '9') {
			return false
		}
	}
	return name != ""
}

// fixed are the attributes that no header of a message sets.
func fixed(name string) bool {
	switch name {
	case "id", "time", "specversion", "datacontenttype", "data":
		return true
	}
	return false
}

// badText says whether a text breaks the rules of type String: UTF-8 without
// control characters.
func badText(s string) bool {
	for _, r := range s {
		if r < ' ' || r >= 0x7f && r <= 0x9f {
			return true
		}
	}
	return !utf8.ValidString(s)
}

// Encode implements broker.Encoder.
func (e CloudEvents) Encode(m *broker.Delivery, binding string) error {
	var room [16]attribute
	attributes, err := e.attributes(room[:0], m)
	if err != nil {
		return err
	}
	if e.Mode == Structured {
		e.structured(m, binding, attributes)
	} else {
		e.binary(m, binding, attributes)
	}
	return nil
}

// attribute is one of an event's, but for datacontenttype.
type attribute struct{ name, value string }

// set sets an attribute, again if it was set before.
func set(to []attribute, name, value string) []attribute {
	for i := range to {
		if to[i].name == name {
			to[i].value = value
			return to
		}
	}
	return append(to, attribute{name, value})
}

// attributes appends those of m. All values are of type String, or look like it.
func (e CloudEvents) attributes(to []attribute, m *broker.Delivery) ([]attribute, error) {
	to = append(to,
		attribute{"specversion", "1.0"},
		attribute{"id", m.ID.String()},
		attribute{"source", e.source(m)},
		attribute{"type", cmp.Or(m.Type, m.Topic)})
	switch {
	case e.Subject == SubjectTopic:
		to = append(to, attribute{"subject", m.Topic})
	case e.Subject != SubjectNone && m.Key != "":
		to = append(to, attribute{"subject", m.Key})
	}
	if !m.At.IsZero() {
		to = append(to, attribute{"time", broker.FormatTime(m.At)})
	}
	if m.Key != "" {
		to = append(to, attribute{"partitionkey", m.Key})
	}
	if len(m.Headers) > 0 {
		for _, header := range inOrder(m.Headers) {
			name, ok := e.attributeOf(header)
			switch {
			case !ok || fixed(name) || m.Headers[header] == "": // an attribute is never empty
			case !isAttribute(name):
				return nil, errors.New("format: a header names an attribute that CloudEvents does not allow; use lower-case letters and digits")
			default:
				to = set(to, name, m.Headers[header])
			}
		}
	}
	for _, a := range to {
		if a.value == "" {
			return nil, fmt.Errorf("format: the attribute %s is empty, which CloudEvents does not allow; give the message a type or a topic", a.name)
		}
		if badText(a.value) {
			return nil, fmt.Errorf("format: the attribute %s is not UTF-8 or holds a control character, which CloudEvents does not allow; "+
				"encode it where it is published", a.name)
		}
	}
	return to, nil
}

func (e CloudEvents) source(m *broker.Delivery) string {
	if e.Source != "" {
		return e.Source
	}
	return "/" + url.PathEscape(m.Box)
}

// attributeOf returns the attribute that a header of a message sets, if it does.
func (e CloudEvents) attributeOf(header string) (string, bool) {
	if name, ok := e.Extensions[header]; ok {
		return name, true
	}
	if httpfield.HasPrefix(header, "ce-", "ce_") {
		return strings.ToLower(header[len("ce-"):]), true
	}
	return "", false
}

// contentType returns the datacontenttype of m, empty for none.
func (e CloudEvents) contentType(m *broker.Delivery) string {
	for _, name := range inOrder(m.Headers) {
		if strings.EqualFold(name, "content-type") && m.Headers[name] != "" {
			return m.Headers[name]
		}
	}
	switch e.ContentType {
	case "":
		return "application/json"
	case "-":
		return ""
	}
	return e.ContentType
}
