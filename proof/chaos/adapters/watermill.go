package adapters

import (
	"context"
	"errors"

	watermillnats "github.com/ThreeDotsLabs/watermill-nats/v2/pkg/jetstream"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/postbag/postbag/broker"
	"github.com/postbag/postbag/broker/watermillbroker"
)

// Watermill is Watermill's publisher for JetStream with watermillbroker, on the server and with the faults of NATS.
type Watermill struct{ NATS }

// Name implements chaos.Broker.
func (Watermill) Name() string { return "watermill" }

// Open implements chaos.Broker.
func (Watermill) Open(_ context.Context, dsn string) (broker.Destination, error) {
	conn, err := nats.Connect(dsn, nats.MaxReconnects(-1), nats.RetryOnFailedConnect(true))
	if err != nil {
		return nil, err
	}
	publisher, err := watermillnats.NewPublisher(watermillnats.PublisherConfig{
		Conn: conn,
		// It publishes to the subject that this name is.
		ConfigureStream: func(topic string) jetstream.StreamConfig { return jetstream.StreamConfig{Name: topic} },
	})
	if err != nil {
		conn.Close()
		return nil, err
	}
	d, err := watermillbroker.New(publisher, watermillbroker.Options{Classify: classify})
	if err != nil {
		conn.Close()
		return nil, err
	}
	return &ownPublisher{Destination: d, conn: conn}, nil
}

// classify says what an error of the publisher means, as who uses it has to.
func classify(err error) broker.Class {
	_, refused := errors.AsType[*jetstream.APIError](err)
	switch {
	case errors.Is(err, nats.ErrMaxPayload):
		return broker.ClassRejected
	case refused, errors.Is(err, jetstream.ErrNoStreamResponse):
		return broker.ClassTopicUnavailable
	default:
		return broker.ClassKeep
	}
}

// ownPublisher closes the connection after the destination.
type ownPublisher struct {
	*watermillbroker.Destination

	conn *nats.Conn
}

// Close implements broker.Destination.
func (o *ownPublisher) Close(ctx context.Context) error {
	defer o.conn.Close()
	return o.Destination.Close(ctx)
}
