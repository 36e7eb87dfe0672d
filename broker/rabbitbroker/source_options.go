package rabbitbroker

import (
	"errors"
	"fmt"

	amqp "github.com/rabbitmq/amqp091-go"

	"github.com/postbag/postbag/source"
)

// SourceOptions set a source up. URL and Queue are required.
type SourceOptions struct {
	// URL is one URL, or several of one cluster with commas between, tried in turn, as for
	// Dial.
	URL string
	// Login says how the connection is made.
	Login Login

	// Queue is the name of the queue: a quorum queue or a classic one. Sources that name
	// the same one share its messages.
	Queue string
	// Topology is declared at each connection, before anything is taken. Defaults to
	// nothing: the queue is somebody else's, and must exist.
	Topology Topology

	// Order is source.OrderNone or source.OrderStream. With OrderStream one source gets all
	// messages of the queue in sequence, and the others stand by. It needs the queue in
	// Topology, with the argument x-single-active-consumer: true, so that the server
	// refuses a queue that has it not. All sources of the queue then have one Prefetch.
	Order source.Order

	// Prefetch is how many messages the server sends that are not acked: those at work, and
	// those that were read ahead. So it also bounds the memory, together with the size of
	// messages. At most 65,535. Defaults to 1,000.
	Prefetch int
}

const (
	defaultPrefetch = 1000
	maxPrefetch     = 65_535

	singleActive = amqp.SingleActiveConsumerArg
	maxPriority  = "x-max-priority"
)

// Validate returns every fault of the options, joined, or nil.
func (o SourceOptions) Validate() error {
	var faults []error
	fault := func(format string, args ...any) {
		faults = append(faults, fmt.Errorf("rabbitbroker: SourceOptions."+format, args...))
	}
	if err := ValidURLs(o.URL); err != nil {
		faults = append(faults, err)
	}
	if o.Queue == "" || len(o.Queue) > maxShort {
		fault("Queue has %d bytes; name a queue, with 1 to %d", len(o.Queue), maxShort)
	}
	if o.Prefetch < 0 || o.Prefetch > maxPrefetch {
		fault("Prefetch is %d; use 1 to %d, or zero for %d", o.Prefetch, maxPrefetch, defaultPrefetch)
	}
	q, declared := o.declared()
	if declared && q.Type == "stream" {
		fault("Queue %.64q is a stream in SourceOptions.Topology; a stream needs a source that keeps offsets: use OpenStream, or bind a quorum queue to the exchange and take from that", o.Queue)
	}
	switch o.Order {
	case source.OrderNone:
	case source.OrderStream:
		if !declared || q.Arguments[singleActive] != true {
			fault("Order is stream, and SourceOptions.Topology has no queue %.64q with the argument %s: true; add it, or use source.OrderNone", o.Queue, singleActive)
		}
		if _, has := q.Arguments[maxPriority]; has {
			fault("Order is stream, and the queue %.64q has %s, which changes the sequence; leave one of them out", o.Queue, maxPriority)
		}
	default:
		fault("Order is %v; RabbitMQ has source.OrderNone and source.OrderStream", o.Order)
	}
	return errors.Join(append(append(faults, o.Topology.validate("SourceOptions")...), o.Login.validate("SourceOptions")...)...)
}

// declared is the queue as the topology has it, if it does.
func (o SourceOptions) declared() (q Queue, found bool) {
	for _, q := range o.Topology.Queues {
		if q.Name == o.Queue {
			return q, true
		}
	}
	return q, false
}

// withDefaults fills what is zero.
func (o SourceOptions) withDefaults() SourceOptions {
	if o.Prefetch == 0 {
		o.Prefetch = defaultPrefetch
	}
	o.Login = o.Login.withDefaults()
	return o
}
