package source

import (
	"fmt"
	"strings"
	"time"
)

// Message is a message as the broker has it, with what it takes to ack it. Where a field
// may be zero, it says what that means. All but Deliveries, Receipt, Partition and Err is
// the same whenever the message comes.
type Message struct {
	// Topic is where it was sent: a topic, a subject, a routing key, a path.
	Topic string
	// Key is the broker's own, or what its transport has in that place. Empty: none.
	Key string
	// Headers are those of the broker, in its sequence, with nothing decoded that the
	// protocol does not encode. Ids that senders put there stay there.
	Headers Headers
	// ContentType and MessageID are properties that the transport has beside headers (AMQP,
	// MQTT). Empty: none.
	ContentType, MessageID string
	// Payload is bit for bit what was sent.
	Payload []byte
	// Null says that there is no payload at all, where the broker distinguishes that from
	// an empty one (a Kafka tombstone). Payload is then empty.
	Null bool
	// Time is when the message was sent or stored, by the clock of the sender or the
	// broker. Zero: the broker does not say.
	Time time.Time
	// Place is where the broker keeps it. Zero: the broker has no such thing.
	Place Place
	// Deliveries is how often the broker delivered it, this time included, to anybody: at
	// least that often. Zero: the broker does not count.
	Deliveries int
	// Receipt names this delivery to Ack and Release.
	Receipt Receipt
	// Partition is the scope in which the message has an order with others, if
	// Features.Order says so. It is also the unit of loss. One name for a source that
	// has no partitions; it may be empty.
	Partition Partition
	// Err says why a part of the message is missing: ErrTooLarge, or ErrUndecodable. What
	// could be read is there, Place and Receipt always. Ack or release it as any other.
	// Nil: the message is whole.
	Err error
}

// Partition names a partition of a source, such as "orders/3".
type Partition string

// Headers are the headers of a message. A name can come several times, if the broker
// allows that.
type Headers []Header

// Header is one header. The value is any bytes. An adapter writes a value that is no text
// or bytes as text: integers in decimal, booleans as true and false, times as RFC 3339,
// anything else as JSON.
type Header struct{ Name, Value string }

// Get returns the first value of the header with this name. If there is none, it returns
// that of the first header whose name differs only in case.
func (h Headers) Get(name string) (value string, ok bool) {
	for _, one := range h {
		if one.Name == name {
			return one.Value, true
		}
	}
	for _, one := range h {
		if strings.EqualFold(one.Name, name) {
			return one.Value, true
		}
	}
	return "", false
}

// Size returns the bytes of m that count for Limits.Bytes.
func (m *Message) Size() int {
	size := len(m.Payload) + len(m.Key)
	for _, h := range m.Headers {
		size += len(h.Name) + len(h.Value)
	}
	return size
}

// Place is where a broker keeps a message. No two messages ever have the same one, and a
// message has the same one each time that it comes, to any member of any group.
type Place struct {
	// Source names the log for ever: the name that the source's options give it, and what
	// distinguishes one life of the log from the next, if it can be deleted and made again
	// (the id of a topic, the time at which a stream was made). Otherwise the offsets of
	// the new log would name messages of the old one, whose marks drop them. Empty in the
	// zero Place only.
	Source string
	// Partition is the partition within the log. Empty: it has none.
	Partition string
	// Offset is the message's number in the partition. Minor is the second part of a
	// number that has two (an entry id of Redis), and otherwise zero.
	Offset, Minor uint64
}

// IsZero says whether the broker has no places.
func (p Place) IsZero() bool { return p.Source == "" }

// String returns the place for people to read, such as "orders/3@17". Two places can have
// the same text.
func (p Place) String() string {
	if p.IsZero() {
		return "no place"
	}
	var b strings.Builder
	b.WriteString(p.Source)
	if p.Partition != "" {
		b.WriteString("/" + p.Partition)
	}
	fmt.Fprintf(&b, "@%d", p.Offset)
	if p.Minor != 0 {
		fmt.Fprintf(&b, "-%d", p.Minor)
	}
	return b.String()
}

// Receipt names one delivery of a message, for the source that made it. Its fields mean
// something to that source alone. It can be compared, and be a key of a map. It is valid
// in this process, and for this source. Never give it to another one. The zero Receipt
// names nothing.
type Receipt struct {
	// Epoch numbers the assignment, the connection or the session, from one.
	Epoch uint64
	// Number is a number within it: an offset, a delivery tag.
	Number uint64
	// Name is what a number cannot say: a reply subject, an entry id.
	Name string
}
