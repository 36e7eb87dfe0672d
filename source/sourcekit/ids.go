package sourcekit

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"errors"
	"mime"
	"strings"

	"github.com/postbag/postbag"
	"github.com/postbag/postbag/source"
)

// MaxID is the largest length of an id, in bytes: that of store.MaxMessageID.
const MaxID = 255

// ErrNoID says that no rule found an id in a message. Without one nobody can tell whether
// the message came before.
var ErrNoID = errors.New("sourcekit: the message has no id; let its sender add one, or choose a rule that finds it")

// IDRule finds an id in a message. It looks only at what is the same each time that the
// message comes. It is safe for concurrent use.
type IDRule struct {
	// Name says what it looks at, for people to read.
	Name string
	// Find returns the id, from 1 to MaxID bytes, or false if the message has none. It
	// never changes the message.
	Find func(m *source.Message) (id string, ok bool)
}

// IDs are rules, tried in this sequence. The first that finds an id decides.
//
// A value that is a UUID, in whatever header, becomes its 16 bytes. So a sender that
// changes the format of its messages does not make new ones of them. Any other value
// stands behind the name of its rule and a colon, so that equal texts in different headers
// are different ids. The name of a header is in lower case there, since names are compared
// without case. What is then longer than MaxID is replaced by its hash.
type IDs []IDRule

// DefaultIDs are: Postbag-Id, CloudEvents, Idempotency-Key, the header id (Debezium), the
// transport's message id, webhook-id, Nats-Msg-Id, and at last the place.
//
// The place is the same for a message that the broker delivers again, and not for one that
// its sender sent again. FromHash is not among them: it takes two messages that are meant
// to be equal for one.
func DefaultIDs() IDs {
	return IDs{
		FromHeader("Postbag-Id"), FromCloudEvents(), FromHeader("Idempotency-Key"), FromHeader("id"),
		FromMessageID(), FromHeader("webhook-id"), FromHeader("Nats-Msg-Id"), FromPlace(),
	}
}

// DefaultIDsFor are DefaultIDs, for the messages of a source with this binding: that of
// Features. In HTTP webhook-id comes first. It is what the signature covers, and
// the others are not.
func DefaultIDsFor(binding string) IDs {
	if binding != "http" {
		return DefaultIDs()
	}
	return append(IDs{FromHeader("webhook-id")}, DefaultIDs()...)
}

// Of returns the id of a message, and the name of the rule that found it. The error is
// ErrNoID.
func (ids IDs) Of(m *source.Message) (id, rule string, err error) {
	for _, r := range ids {
		if id, ok := r.Find(m); ok && id != "" && len(id) <= MaxID {
			return id, r.Name, nil
		}
	}
	return "", "", ErrNoID
}

// FromHeader is the rule that takes the value of a header, as source.Headers.Get finds it.
// An empty value is none.
func FromHeader(name string) IDRule {
	lower := strings.ToLower(name)
	return IDRule{Name: name, Find: func(m *source.Message) (string, bool) {
		value, _ := m.Headers.Get(name)
		return idOf(lower, value)
	}}
}

// FromMessageID is the rule that takes the transport's own property (AMQP's message-id).
func FromMessageID() IDRule {
	const name = "message-id"
	return IDRule{Name: name, Find: func(m *source.Message) (string, bool) { return idOf(name, m.MessageID) }}
}

// FromPlace is the rule that takes the place: source.Place.ID. A message without one has no
// id of it.
func FromPlace() IDRule {
	return IDRule{Name: "place", Find: func(m *source.Message) (string, bool) {
		return m.Place.ID(), !m.Place.IsZero()
	}}
}

// FromHash is the rule that takes a hash of topic, key and payload. It finds an id in every
// message that is whole. Messages that are equal in all three are one message to it.
func FromHash() IDRule {
	const name = "hash"
	return IDRule{Name: name, Find: func(m *source.Message) (string, bool) {
		if m.Err != nil {
			return "", false
		}
		b := appendText(appendText(nil, m.Topic), m.Key)
		b = append(b, 0)
		if m.Null {
			b[len(b)-1] = 1
		}
		sum := sha256.Sum256(append(b, m.Payload...))
		return name + ":" + string(sum[:]), true
	}}
}

// FromCloudEvents is the rule that takes source and id of an event of CloudEvents 1.0: from
// headers, under the names of each binding, or from the document in structured mode. If the
// id is a UUID, the source does not matter.
func FromCloudEvents() IDRule {
	const name = "cloudevents"
	return IDRule{Name: name, Find: func(m *source.Message) (string, bool) {
		id, from := eventOf(m)
		if _, err := postbag.ParseID(id); err == nil || id == "" {
			return idOf(name, id)
		}
		return bounded(name, string(appendText(nil, from))+id), true
	}}
}

// PerTopic makes ids of a rule different for each topic, for senders whose ids are unique
// only within one.
func PerTopic(r IDRule) IDRule {
	name := r.Name + " per topic"
	return IDRule{Name: name, Find: func(m *source.Message) (string, bool) {
		id, ok := r.Find(m)
		if !ok || id == "" {
			return "", false
		}
		return bounded(name, string(appendText(nil, m.Topic))+id), true
	}}
}

// eventPrefixes are what the names of attributes begin with: in HTTP and NATS, in Kafka, in
// AMQP, in the older form of AMQP.
var eventPrefixes = [...]string{"ce-", "ce_", "cloudEvents_", "cloudEvents:"}

// eventOf returns id and source of an event, empty if the message is none.
func eventOf(m *source.Message) (id, from string) {
	for _, prefix := range eventPrefixes {
		if id, ok := m.Headers.Get(prefix + "id"); ok && id != "" {
			from, _ = m.Headers.Get(prefix + "source")
			return id, from
		}
	}
	if _, ok := m.Headers.Get("specversion"); ok { // MQTT has no prefix
		id, _ = m.Headers.Get("id")
		from, _ = m.Headers.Get("source")
		return id, from
	}
	if !structured(m) {
		return "", ""
	}
	var event struct {
		ID     string `json:"id"`
		Source string `json:"source"`
	}
	if json.Unmarshal(m.Payload, &event) != nil {
		return "", ""
	}
	return event.ID, event.Source
}

// structured says whether the payload is an event of CloudEvents as a JSON document.
func structured(m *source.Message) bool {
	contentType := m.ContentType
	if contentType == "" {
		contentType, _ = m.Headers.Get("content-type")
	}
	kind, _, err := mime.ParseMediaType(contentType)
	return err == nil && strings.EqualFold(kind, "application/cloudevents+json")
}

// idOf makes an id of a value that a rule found.
func idOf(rule, value string) (string, bool) {
	if value == "" {
		return "", false
	}
	if id, err := postbag.ParseID(value); err == nil && !id.IsZero() {
		return string(id[:]), true
	}
	return bounded(rule, value), true
}

// bounded puts the name of a rule before a value, and replaces what is too long by its hash.
func bounded(rule, value string) string {
	if id := rule + ":" + value; len(id) <= MaxID {
		return id
	}
	sum := sha256.Sum256([]byte(value))
	head := string(appendText(nil, rule))
	if len(head)+len(sum)+1 > MaxID {
		all := sha256.Sum256([]byte(head))
		head = string(all[:])
	}
	return head + "#" + string(sum[:])
}

// appendText appends a text so that where it ends can be told.
func appendText(b []byte, text string) []byte {
	return append(binary.AppendUvarint(b, uint64(len(text))), text...)
}
