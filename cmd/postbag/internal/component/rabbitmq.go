package component

import (
	"context"
	"errors"
	"strconv"
	"time"

	"github.com/postbag/postbag/broker"
	"github.com/postbag/postbag/broker/rabbitbroker"
	"github.com/postbag/postbag/cmd/postbag/internal/terminal"
)

// RabbitMQConnection is how a client of RabbitMQ reaches its nodes.
type RabbitMQConnection struct {
	Connection

	// Log in by the client's certificate (SASL EXTERNAL).
	External bool `yaml:"external" default:"false"`
	// The virtual host.
	VHost string `yaml:"vhost" otherwise:"the one in the URL, or /"`
	// What the server shows as the connection's name.
	ClientName string `yaml:"client_name" default:"postbag"`
	// How often each side sends a heartbeat.
	Heartbeat time.Duration `yaml:"heartbeat" range:"1s..1h" default:"10s"`
}

// login fills what the settings say of who connects, and returns the URL.
func (q *RabbitMQConnection) login(to *rabbitbroker.Login) (url string, err error) {
	to.VHost, to.External, to.Name, to.Heartbeat = q.VHost, q.External, q.ClientName, q.Heartbeat
	return q.Connection.open(&to.User, &to.Password, &to.TLS)
}

// RabbitMQ is a destination in RabbitMQ.
type RabbitMQ struct {
	RabbitMQConnection

	// The exchange: a name, or a template of {topic}, {key}, {type}, {box} and
	// {subscription}.
	Exchange string `yaml:"exchange" otherwise:"the default exchange, which takes a message to the queue that the routing key names"`
	// A template of the routing key.
	RoutingKey string `yaml:"routing_key" default:"{topic}"`
	// Exchanges, queues and bindings to declare at each connection.
	Topology RabbitMQTopology `yaml:"topology" otherwise:"none"`
	// AMQP channels that share the work, at most 256.
	Channels int `yaml:"channels" default:"2"`
	// How often a message that the server refused (a full queue) is sent again at once; -1:
	// never.
	Retries int `yaml:"retries" default:"2"`
	// Most messages that are sent and not yet answered.
	MaxPending int `yaml:"max_pending" default:"2048"`
	// The largest payload, in bytes; larger ones are rejected.
	MaxBytes int `yaml:"max_bytes" otherwise:"the server's limit"`
}

// RabbitMQTopology is what is declared.
type RabbitMQTopology struct {
	// Exchanges to declare, all durable.
	Exchanges []RabbitMQExchange `yaml:"exchanges"`
	// Queues to declare, all durable.
	Queues []RabbitMQQueue `yaml:"queues"`
	// What leads from exchanges to queues.
	Bindings []RabbitMQBinding `yaml:"bindings"`
}

// RabbitMQExchange is one to declare.
type RabbitMQExchange struct {
	// Its name. Required.
	Name string `yaml:"name"`
	// direct, fanout, headers, topic, or a plugin's.
	Kind string `yaml:"kind" default:"topic"`
	// Further arguments; numbers and true or false are sent as such.
	Arguments map[string]string `yaml:"arguments"`
}

// RabbitMQQueue is one to declare.
type RabbitMQQueue struct {
	// Its name. Required.
	Name string `yaml:"name"`
	// quorum, classic or stream.
	Type string `yaml:"type" default:"quorum"`
	// Further arguments, such as x-max-length; numbers and true or false are sent
	// as such.
	Arguments map[string]string `yaml:"arguments"`
}

// RabbitMQBinding leads messages of an exchange to a queue.
type RabbitMQBinding struct {
	// The exchange. Required.
	Exchange string `yaml:"exchange"`
	// The queue. Required.
	Queue string `yaml:"queue"`
	// What the exchange compares, such as orders.#.
	RoutingKey string `yaml:"routing_key" otherwise:"nothing"`
	// Further arguments: those of a headers exchange.
	Arguments map[string]string `yaml:"arguments"`
}

func (q *RabbitMQ) open(ctx context.Context, _ *terminal.Terminal, dry bool) (broker.Destination, error) {
	o := rabbitbroker.Options{
		Exchange: q.Exchange, RoutingKey: q.RoutingKey, Topology: q.Topology.declared(), MaxBytes: q.MaxBytes,
		MaxPending: q.MaxPending, Channels: q.Channels, Retries: q.Retries,
	}
	url, err := q.login(&o.Login)
	if err != nil {
		return nil, err
	}
	if dry {
		return nil, errors.Join(o.Validate(), rabbitbroker.ValidURLs(url))
	}
	return rabbitbroker.Dial(ctx, url, o)
}

func (t *RabbitMQTopology) declared() (out rabbitbroker.Topology) {
	for _, e := range t.Exchanges {
		out.Exchanges = append(out.Exchanges, rabbitbroker.Exchange{Name: e.Name, Kind: e.Kind, Arguments: arguments(e.Arguments)})
	}
	for _, q := range t.Queues {
		out.Queues = append(out.Queues, rabbitbroker.Queue{Name: q.Name, Type: q.Type, Arguments: arguments(q.Arguments)})
	}
	for _, b := range t.Bindings {
		out.Bindings = append(out.Bindings, rabbitbroker.Binding{
			Exchange: b.Exchange, Queue: b.Queue, RoutingKey: b.RoutingKey, Arguments: arguments(b.Arguments),
		})
	}
	return out
}

// arguments gives values the kind that they look like: the server tells numbers from text.
func arguments(in map[string]string) map[string]any {
	if len(in) == 0 {
		return nil
	}
	out := make(map[string]any, len(in))
	for name, text := range in {
		out[name] = text
		if n, err := strconv.ParseInt(text, 10, 64); err == nil {
			out[name] = n
		} else if text == "true" || text == "false" {
			out[name] = text == "true"
		}
	}
	return out
}

// CheckTopic implements config.TopicChecker.
func (q *RabbitMQ) CheckTopic(topic string) error {
	return rabbitbroker.Options{Exchange: q.Exchange, RoutingKey: q.RoutingKey}.CheckTopic(topic)
}

// CheckHeaders implements config.HeaderChecker.
func (*RabbitMQ) CheckHeaders(headers map[string]string) error {
	return rabbitbroker.CheckHeaders(headers)
}
