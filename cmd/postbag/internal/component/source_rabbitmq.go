package component

import (
	"context"

	"github.com/postbag/postbag/broker/rabbitbroker"
	"github.com/postbag/postbag/cmd/postbag/internal/config"
	"github.com/postbag/postbag/source"
)

// RabbitMQSource takes messages from a queue of RabbitMQ.
type RabbitMQSource struct {
	RabbitMQConnection

	// The queue: quorum or classic. Processes that name the same one share its messages.
	// Required.
	Queue string `yaml:"queue"`
	// Exchanges, queues and bindings to declare at each connection. Without it the queue must
	// exist.
	Topology RabbitMQTopology `yaml:"topology"`
	// none shares single messages out. stream gives all to one process in sequence, and
	// others stand by; it needs the queue in topology, with the argument
	// x-single-active-consumer: true.
	Order string `yaml:"order" oneof:"none stream" default:"none"`
	// Most messages that the server sends and that are not acknowledged yet.
	Prefetch int `yaml:"prefetch" range:"1..65535" default:"1000"`
}

// Check implements config.Settings.
func (q *RabbitMQSource) Check(r config.Report) {
	q.RabbitMQConnection.Check(r)
	need(r, "queue", q.Queue, "name the queue to take messages from")
}

func (q *RabbitMQSource) openSource(ctx context.Context, _ func(error), dry bool) (source.Source, error) {
	o := rabbitbroker.SourceOptions{Queue: q.Queue, Topology: q.Topology.declared(), Order: orderOf(q.Order), Prefetch: q.Prefetch}
	var err error
	if o.URL, err = q.login(&o.Login); err != nil {
		return nil, err
	}
	if dry {
		return nil, o.Validate()
	}
	return rabbitbroker.OpenSource(ctx, o)
}
