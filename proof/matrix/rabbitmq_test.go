package matrix

import (
	"fmt"
	"testing"

	amqp "github.com/rabbitmq/amqp091-go"

	"github.com/postbag/postbag/broker"
	"github.com/postbag/postbag/broker/rabbitbroker"
	"github.com/postbag/postbag/internal/testserver"
	"github.com/postbag/postbag/internal/testserver/servertest"
)

func startRabbitMQ(t *testing.T) *server {
	t.Helper()
	s := servertest.RabbitMQ(t, testserver.RabbitMQOptions{})
	return &server{
		place:   func(t *testing.T) *place { return rabbitPlace(t, s) },
		restart: s.Restart,
	}
}

// rabbitPlace is a quorum queue, which the relay declares.
func rabbitPlace(t *testing.T, s *testserver.RabbitMQ) *place {
	t.Helper()
	name := newName()
	var out [][]byte
	return &place{
		topic: name,
		yaml:  fmt.Sprintf("{rabbitmq: {url_env: RABBIT_URL, topology: {queues: [{name: %s}]}}}", name),
		env:   []string{"RABBIT_URL=" + s.URL("/")},
		open: func(t *testing.T) broker.Destination {
			t.Helper()
			d, err := rabbitbroker.Dial(t.Context(), s.URL("/"), rabbitbroker.Options{
				Topology: rabbitbroker.Topology{Queues: []rabbitbroker.Queue{{Name: name}}},
			})
			if err != nil {
				t.Fatal(err)
			}
			return d
		},
		stored: func(t *testing.T) [][]byte {
			t.Helper()
			out = append(out, rabbitPayloads(t, s, name)...)
			return out
		},
	}
}

// rabbitPayloads takes what is in a queue now.
func rabbitPayloads(t *testing.T, s *testserver.RabbitMQ, queue string) (out [][]byte) {
	t.Helper()
	c, err := amqp.Dial(s.URL("/"))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = c.Close() }()
	ch, err := c.Channel()
	if err != nil {
		t.Fatal(err)
	}
	for {
		m, found, err := ch.Get(queue, false)
		if err != nil {
			t.Fatal(err)
		}
		if !found {
			return out
		}
		if err := m.Ack(false); err != nil {
			t.Fatal(err)
		}
		out = append(out, m.Body)
	}
}
