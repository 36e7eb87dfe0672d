package source

import (
	"fmt"
	"time"
)

// Features declares what a source can do. The conformance suite tests each in both
// directions.
type Features struct {
	// Order says within what messages come in a sequence.
	Order Order
	// Places: every message has a Place.
	Places bool
	// Counts: every message has Deliveries, at least two if it comes again because
	// somebody had it and did not ack it.
	Counts bool
	// Cumulative: the broker keeps a position and no single acks, or takes acks only in the
	// sequence in which messages came (MQTT). What was acked behind a message that was not
	// comes again, in the next assignment of the partition.
	Cumulative bool
	// AckWait is for how long a message may be at work before the broker gives it to
	// somebody else. Zero: for as long as the source lives and is connected.
	AckWait time.Duration
	// MaxUnacked is how many messages can be at work at once. Fetch waits when that many
	// are. Zero: no limit.
	MaxUnacked int
	// Binding names the protocol, as broker.Features.Binding does: "kafka", "amqp",
	// "nats". It tells a decoder how headers are named and written. Empty: none of these.
	Binding string
}

// Order says within what messages come in the broker's sequence.
type Order int

const (
	// OrderNone: in no sequence. Members of a group share single messages.
	OrderNone Order = iota
	// OrderPartition: within each partition. Members of a group share partitions: each
	// partition goes to one member at a time.
	OrderPartition
	// OrderStream: all messages of the source, which is one partition. One member of a
	// group gets them, and the others stand by.
	OrderStream
)

// String returns the order's name in lower case.
func (o Order) String() string {
	switch o {
	case OrderNone:
		return "none"
	case OrderPartition:
		return "partition"
	case OrderStream:
		return "stream"
	}
	return fmt.Sprintf("order(%d)", int(o))
}
