package main

import (
	"context"
	"errors"
	"fmt"

	amqp "github.com/rabbitmq/amqp091-go"

	"github.com/postbag/postbag/broker"
	"github.com/postbag/postbag/broker/rabbitbroker"
	"github.com/postbag/postbag/internal/testserver"
)

func (l *testbed) startRabbit(ctx context.Context) (*testserver.RabbitMQ, error) {
	return once(l, &l.rabbit, func() (*testserver.RabbitMQ, error) {
		return testserver.StartRabbitMQ(ctx, testserver.RabbitMQOptions{})
	})
}

// freshQueue gives the next run an empty quorum queue, named as the topic of all messages.
func (l *testbed) freshQueue(ctx context.Context) (*amqp.Connection, error) {
	s, err := l.startRabbit(ctx)
	if err != nil {
		return nil, err
	}
	c, err := amqp.Dial(s.URL("/"))
	if err != nil {
		return nil, err
	}
	ch, err := c.Channel()
	if err != nil {
		return nil, errors.Join(err, c.Close())
	}
	_, _ = ch.QueueDelete("bench.a", false, false, false) // it may not be there
	_, err = ch.QueueDeclare("bench.a", true, false, false, false, amqp.Table{amqp.QueueTypeArg: amqp.QueueTypeQuorum})
	if err = errors.Join(err, ch.Close()); err != nil {
		return nil, errors.Join(err, c.Close())
	}
	return c, nil
}

func rabbitRaw(ctx context.Context, l *testbed) (rawSender, error) {
	c, err := l.freshQueue(ctx)
	if err != nil {
		return rawSender{}, err
	}
	ch, err := c.Channel()
	if err == nil {
		err = ch.Confirm(false)
	}
	if err != nil {
		return rawSender{}, errors.Join(err, c.Close())
	}
	confirms := ch.NotifyPublish(make(chan amqp.Confirmation, 2*pageSize))
	send := func(rows []rawRow) error {
		for i := range rows {
			err := ch.PublishWithContext(ctx, "", rows[i].topic, true, false, amqp.Publishing{
				DeliveryMode: amqp.Persistent, Body: rows[i].payload, MessageId: fmt.Sprintf("%036d", rows[i].seq),
				Headers: amqp.Table{"trace": "0af7651916cd43dd8448eb211c80319c", "tenant": "7"},
			})
			if err != nil {
				return err
			}
		}
		for range rows {
			if !(<-confirms).Ack {
				return errors.New("a message was not confirmed")
			}
		}
		return nil
	}
	return rawSender{send: send, close: func() { _ = c.Close() }}, nil
}

func rabbitDestination(ctx context.Context, l *testbed) (broker.Destination, error) {
	c, err := l.freshQueue(ctx)
	if err != nil {
		return nil, err
	}
	if err := c.Close(); err != nil {
		return nil, err
	}
	return rabbitbroker.Dial(ctx, l.rabbit.URL("/"), rabbitbroker.Options{})
}
