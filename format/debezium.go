package format

import (
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/postbag/postbag/broker"
)

// Placement says where a field of Debezium's goes.
type Placement string

// The placements.
const (
	// InHeader makes a header of the field.
	InHeader Placement = "header"
	// InEnvelope makes the value a JSON object of the payload and the field.
	InEnvelope Placement = "envelope"
)

// Field is a column of a Debezium outbox table that goes with the event, as one
// entry of table.fields.additional.placement.
type Field struct {
	// Column is one of type, aggregatetype (the topic), aggregateid (the key), timestamp
	// (when the message was stored, in milliseconds since 1970) and id. Any other name is
	// that of one of the message's own headers; a message without it has no such field.
	Column    string
	Placement Placement
	// Name on the wire. Defaults to Column.
	Name string
}

// RoutedByValue stands for the message's topic in Debezium.Route.
const RoutedByValue = "${routedByValue}"

// Debezium makes what Debezium's outbox event router emits for a row of its outbox table.
// The topic is outbox.event.<aggregatetype>, with the message's topic as aggregate type.
// The key is the message's key, the aggregate id. The header id has the id, and the value
// is the payload. The message's own headers go beside them. The destination sets the
// record's timestamp to the message's time.
//
// Unlike Debezium it never reformats JSON, and sends no __debezium.context headers.
type Debezium struct {
	// Route is the topic, with RoutedByValue for the message's. Defaults to
	// "outbox.event.${routedByValue}", as route.topic.replacement does.
	Route string
	// Fields go with the event. Nil: one field, the type as header eventType. Empty and
	// not nil: none. ParseFields reads Debezium's own notation.
	Fields []Field
	// ExpandJSON puts a JSON payload into the envelope as it is, not as a string
	// (table.expand.json.payload). Without a field in the envelope it does nothing.
	ExpandJSON bool
	// Tombstone sends null for a message without payload
	// (route.tombstone.on.empty.payload).
	Tombstone bool
}

// ParseFields reads fields as table.fields.additional.placement has them, such as
// "type:header:eventType,tenant:envelope": column, placement and, if it is another,
// the name, separated by colons.
func ParseFields(text string) ([]Field, error) {
	fields := []Field{}
	for entry := range strings.SplitSeq(text, ",") {
		if entry = strings.TrimSpace(entry); entry == "" {
			continue
		}
		parts := strings.Split(entry, ":")
		if len(parts) < 2 || len(parts) > 3 {
			return nil, fmt.Errorf("format: the field %q is not column:placement or column:placement:name; write it as type:header:eventType", entry)
		}
		f := Field{Column: strings.TrimSpace(parts[0]), Placement: Placement(strings.TrimSpace(parts[1]))}
		if len(parts) == 3 {
			f.Name = strings.TrimSpace(parts[2])
		}
		fields = append(fields, f)
	}
	return fields, Debezium{Fields: fields}.Validate()
}

const (
	headerDebeziumID  = "id"
	envelopePayload   = "payload"
	columnID          = "id"
	columnType        = "type"
	columnTopic       = "aggregatetype"
	columnKey         = "aggregateid"
	columnTimestamp   = "timestamp"
	defaultRoute      = "outbox.event." + RoutedByValue
	defaultFieldName  = "eventType"
	jsonContentType   = "application/json"
	fieldOnTheWireFmt = "format: field %d: %s"
)

var defaultFields = []Field{{Column: columnType, Placement: InHeader, Name: defaultFieldName}}

// KeepsPayload says whether a payload stays as it is.
func (d Debezium) KeepsPayload() bool { return !d.enveloped() }

// Validate returns all faults of the options.
func (d Debezium) Validate() error {
	var faults []error
	seen := map[Placement]map[string]bool{InHeader: {headerDebeziumID: true}, InEnvelope: {envelopePayload: true}}
	for i, f := range d.fields() {
		switch {
		case f.Column == "":
			faults = append(faults, fmt.Errorf(fieldOnTheWireFmt, i, "it has no column; name one, such as type"))
		case seen[f.Placement] == nil:
			faults = append(faults, fmt.Errorf(fieldOnTheWireFmt, i, fmt.Sprintf("the placement %q is unknown; choose %s or %s", f.Placement, InHeader, InEnvelope)))
		case seen[f.Placement][f.name()]:
			faults = append(faults, fmt.Errorf(fieldOnTheWireFmt, i, fmt.Sprintf("the name %q is there already; choose another", f.name())))
		default:
			seen[f.Placement][f.name()] = true
		}
	}
	return errors.Join(faults...)
}

func (d Debezium) fields() []Field {
	if d.Fields == nil {
		return defaultFields
	}
	return d.Fields
}

func (d Debezium) enveloped() bool {
	for _, f := range d.fields() {
		if f.Placement == InEnvelope {
			return true
		}
	}
	return false
}

func (f Field) name() string {
	if f.Name != "" {
		return f.Name
	}
	return f.Column
}

// value is the field's of m, and whether it is a number.
func (f Field) value(m *broker.Delivery) (text string, number, ok bool) {
	switch f.Column {
	case columnID:
		return m.ID.String(), false, true
	case columnType:
		return m.Type, false, m.Type != ""
	case columnTopic:
		return m.Topic, false, true
	case columnKey:
		return m.Key, false, m.Key != ""
	case columnTimestamp:
		return strconv.FormatInt(m.At.UnixMilli(), 10), true, !m.At.IsZero()
	}
	text, ok = m.Headers[f.Column]
	return text, false, ok
}

// Encode implements broker.Encoder.
func (d Debezium) Encode(m *broker.Delivery, binding string) error {
	w := &broker.Wire{Headers: make(map[string]string, 2+len(m.Headers))}
	w.Headers[headerDebeziumID] = m.ID.String()
	for _, f := range d.fields() {
		if text, _, ok := f.value(m); ok && f.Placement == InHeader && (text != "" || binding != broker.BindingHTTP) {
			w.Headers[f.name()] = carried(text, binding)
		}
	}
	w.ContentType = addOwn(w.Headers, m.Headers, binding, d.isField)
	switch {
	case d.Tombstone && len(m.Payload) == 0:
		m.Payload, w.Null, w.ContentType = nil, true, ""
	case d.enveloped():
		b, err := d.envelope(m)
		if err != nil {
			return err
		}
		m.Payload, w.ContentType = b, jsonContentType
	}
	if m.Topic = strings.ReplaceAll(d.route(), RoutedByValue, m.Topic); m.Topic == "" {
		return errors.New("format: the route of a message without topic is empty; set Route")
	}
	m.Wire = w
	return nil
}

func (d Debezium) route() string {
	if d.Route == "" {
		return defaultRoute
	}
	return d.Route
}

// isField says whether a header of a message's own goes with the event already,
// or has a name that only Debezium gives.
func (d Debezium) isField(name string) bool {
	if strings.EqualFold(name, headerDebeziumID) {
		return true
	}
	for _, f := range d.fields() {
		if name == f.Column || f.Placement == InHeader && strings.EqualFold(name, f.name()) {
			return true
		}
	}
	return false
}

// envelope is the value with its fields, the payload first.
func (d Debezium) envelope(m *broker.Delivery) ([]byte, error) {
	b := make([]byte, 0, 64+len(m.Payload)*4/3)
	b = appendMember(append(b, '{'), envelopePayload)
	switch {
	case len(m.Payload) == 0:
		b = append(b, "null"...)
	case d.ExpandJSON && utf8.Valid(m.Payload) && json.Valid(m.Payload):
		b = append(b, m.Payload...)
	case utf8.Valid(m.Payload):
		b = appendText(b, string(m.Payload))
	default:
		b = appendBase64(b, m.Payload)
	}
	for _, f := range d.fields() {
		text, number, ok := f.value(m)
		switch {
		case !ok || f.Placement != InEnvelope:
		case number:
			b = append(appendMember(b, f.name()), text...)
		case !utf8.ValidString(text):
			return nil, errors.New("format: a field for the envelope is not UTF-8, which JSON cannot hold; encode it where it is published")
		default:
			b = appendText(appendMember(b, f.name()), text)
		}
	}
	return append(b, '}'), nil
}
