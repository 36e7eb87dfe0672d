package rabbitbroker

import (
	"fmt"
	"maps"

	amqp "github.com/rabbitmq/amqp091-go"
)

// Topology is what Options.Topology and SourceOptions.Topology declare, in this order. All is durable.
// Declaring what is there with the same settings changes nothing; with others it
// is refused, and messages are Misconfigured until somebody fixes it.
type Topology struct {
	Exchanges []Exchange
	Queues    []Queue
	Bindings  []Binding
}

// Exchange is one to declare.
type Exchange struct {
	Name string
	// Kind is "direct", "fanout", "headers", "topic", or a plugin's. Defaults to
	// "topic".
	Kind string
	// Arguments are passed on: "alternate-exchange".
	Arguments map[string]any
}

// Queue is one to declare.
type Queue struct {
	Name string
	// Type is "quorum", "classic" or "stream". Defaults to "quorum".
	Type string
	// Arguments are passed on: "x-max-length", "x-overflow". The server is particular
	// about the kinds of numbers: use int or int64.
	Arguments map[string]any
}

// Binding leads messages of an exchange to a queue.
type Binding struct {
	Exchange, Queue string
	// RoutingKey is what the exchange compares: for a topic exchange a pattern such
	// as "orders.#".
	RoutingKey string
	// Arguments are passed on: those of a headers exchange.
	Arguments map[string]any
}

// validate returns every fault of the topology that is in these options.
func (t Topology) validate(options string) []error {
	var faults []error
	fault := func(format string, args ...any) {
		faults = append(faults, fmt.Errorf("rabbitbroker: "+options+".Topology."+format, args...))
	}
	name := func(field string, i int, text string) {
		if text == "" || len(text) > maxShort {
			fault("%s[%d] has a name of %d bytes; use 1 to %d", field, i, len(text), maxShort)
		}
	}
	arguments := func(field string, i int, args map[string]any) {
		if amqp.Table(args).Validate() != nil {
			fault("%s[%d].Arguments holds a value that AMQP does not know; use text, booleans, numbers and lists of them", field, i)
		}
	}
	for i, e := range t.Exchanges {
		name("Exchanges", i, e.Name)
		arguments("Exchanges", i, e.Arguments)
	}
	for i, q := range t.Queues {
		name("Queues", i, q.Name)
		arguments("Queues", i, q.Arguments)
		switch q.Type {
		case "", "quorum", "classic", "stream":
		default:
			fault("Queues[%d].Type is %.64q; use quorum, classic or stream", i, q.Type)
		}
		if _, twice := q.Arguments[queueType]; twice {
			fault("Queues[%d].Arguments holds %s; use Type", i, queueType)
		}
	}
	for i, b := range t.Bindings {
		name("Bindings", i, b.Exchange)
		name("Bindings", i, b.Queue)
		arguments("Bindings", i, b.Arguments)
		if len(b.RoutingKey) > maxShort {
			fault("Bindings[%d].RoutingKey has %d bytes; use %d at most", i, len(b.RoutingKey), maxShort)
		}
	}
	return faults
}

const queueType = "x-queue-type"

func (t Topology) empty() bool { return len(t.Exchanges)+len(t.Queues)+len(t.Bindings) == 0 }

// declare declares all of it over a channel of its own.
func (t Topology) declare(conn *amqp.Connection) error {
	if t.empty() {
		return nil
	}
	ch, err := conn.Channel()
	if err != nil {
		return err
	}
	defer func() { _ = ch.Close() }() // an error closed it already
	for _, e := range t.Exchanges {
		kind := e.Kind
		if kind == "" {
			kind = amqp.ExchangeTopic
		}
		if err := ch.ExchangeDeclare(e.Name, kind, true, false, false, false, e.Arguments); err != nil {
			return err
		}
	}
	for _, q := range t.Queues {
		if _, err := ch.QueueDeclare(q.Name, true, false, false, false, q.arguments()); err != nil {
			return err
		}
	}
	for _, b := range t.Bindings {
		if err := ch.QueueBind(b.Queue, b.RoutingKey, b.Exchange, false, b.Arguments); err != nil {
			return err
		}
	}
	return nil
}

func (q Queue) arguments() amqp.Table {
	args := amqp.Table{queueType: q.Type}
	if q.Type == "" {
		args[queueType] = "quorum"
	}
	maps.Copy(args, q.Arguments)
	return args
}
