package rabbitbroker

import (
	"errors"
	"fmt"

	"github.com/postbag/postbag/broker"
)

// Options set a destination up. The zero Options send a message to the queue that
// its topic names, through the default exchange.
type Options struct {
	// Exchange takes the messages: a name, or a template such as "{topic}". Defaults
	// to the default exchange, which takes a message to the queue that the routing
	// key names.
	Exchange string

	// RoutingKey is a template: text with {topic}, {key}, {type}, {box} and
	// {subscription} in it, such as "shop.{topic}". One of more than 255 bytes
	// makes its message Rejected. Defaults to "{topic}".
	RoutingKey string

	// Route gives exchange and routing key of a message, in place of Exchange and
	// RoutingKey. It must always give one message the same, and is called from
	// several goroutines.
	Route func(m broker.Delivery) (exchange, routingKey string)

	// Topology is declared at each connection, before anything is sent, and again
	// when a message finds no way or its exchange is gone. Defaults to nothing: exchanges, queues and
	// bindings are somebody else's.
	Topology Topology

	// MaxBytes is the largest payload that may be sent. Set it to the server's
	// max_message_size. Defaults to what the server says when a message is too
	// large for it.
	MaxBytes int

	// MaxPending is how many messages are sent and not yet answered at a time, by
	// all calls. Defaults to 2,048.
	MaxPending int

	// Channels is how many AMQP channels share the work. A key always goes to the
	// same one. Defaults to 2.
	Channels int

	// Retries is how often a message that the server refused with a negative
	// acknowledgement (a full queue) is sent again at once, within its call.
	// Negative: never. Defaults to 2.
	Retries int

	// Login says how the connection is made.
	Login Login
}

// maxChannels is far below what servers allow (channel_max, 2,047).
const maxChannels = 256

// Validate returns every fault of the options, joined, or nil.
func (o Options) Validate() error {
	var faults []error
	fault := func(format string, args ...any) {
		faults = append(faults, fmt.Errorf("rabbitbroker: "+format, args...))
	}
	if o.Route != nil && (o.Exchange != "" || o.RoutingKey != "") {
		fault("Options.Route is set beside Exchange or RoutingKey; let Route give both")
	}
	for field, text := range map[string]string{"Exchange": o.Exchange, "RoutingKey": o.RoutingKey} {
		if reason := badTemplate(text); reason != "" {
			fault("Options.%s %.64q %s", field, text, reason)
		}
	}
	if o.MaxBytes < 0 {
		fault("Options.MaxBytes is %d; use a positive number, or zero for what the server says", o.MaxBytes)
	}
	if o.MaxPending < 0 {
		fault("Options.MaxPending is %d; use a positive number, or zero for 2048", o.MaxPending)
	}
	if o.Channels < 0 || o.Channels > maxChannels {
		fault("Options.Channels is %d; use 1 to %d, or zero for 2", o.Channels, maxChannels)
	}
	return errors.Join(append(append(faults, o.Topology.validate("Options")...), o.Login.validate("Options")...)...)
}

// withDefaults fills what is zero.
func (o Options) withDefaults() Options {
	if o.RoutingKey == "" {
		o.RoutingKey = "{topic}"
	}
	if o.MaxPending == 0 {
		o.MaxPending = 2048
	}
	if o.Channels == 0 {
		o.Channels = 2
	}
	o.Channels = min(o.Channels, o.MaxPending)
	if o.Retries == 0 {
		o.Retries = 2
	}
	o.Login = o.Login.withDefaults()
	return o
}
