package pairs

import (
	"context"
	"encoding/json"
	"strconv"
	"testing"
	"time"

	amqp "github.com/rabbitmq/amqp091-go"

	"github.com/postbag/postbag/internal/testserver"
	"github.com/postbag/postbag/internal/testserver/servertest"
)

// startRabbitMQ starts a broker with a quorum queue. The queue keeps no times, so a clock ticks into it beside the relays: a
// message was stored between the tick before it and the tick behind it.
func startRabbitMQ(t *testing.T) *sink {
	t.Helper()
	node := servertest.RabbitMQ(t, testserver.RabbitMQOptions{})
	ch := rabbitChannel(t, node)
	if _, err := ch.QueueDeclare(topic, true, false, false, false, amqp.Table{"x-queue-type": "quorum"}); err != nil {
		t.Fatal(err)
	}
	if err := node.Remember(t.Context()); err != nil { // what is tried is not the node's list of new queues
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan struct{})
	go func() { defer close(ended); tick(ctx, node) }()
	t.Cleanup(func() { cancel(); <-ended })
	q := &rabbitQueue{}
	return &sink{
		yaml: "{url_env: RABBIT_URL}", env: []string{"RABBIT_URL=" + node.URL("/")},
		kill: node.Kill, back: node.Start,
		more: func() []arrival {
			t.Helper()
			if q.messages == nil {
				var err error
				if q.messages, err = rabbitChannel(t, node).ConsumeWithContext(t.Context(), topic, "", true, false, false, false, nil); err != nil {
					t.Fatal(err)
				}
			}
			return q.more(t)
		},
	}
}

func rabbitChannel(t *testing.T, node *testserver.RabbitMQ) *amqp.Channel {
	t.Helper()
	c, err := amqp.Dial(node.URL("/"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	ch, err := c.Channel()
	if err != nil {
		t.Fatal(err)
	}
	return ch
}

// tickEvery is how far two ticks lie apart.
const tickEvery = 100 * time.Millisecond

// tick sends the time into the queue until ctx ends, over a new connection where one is lost.
func tick(ctx context.Context, node *testserver.RabbitMQ) {
	for ctx.Err() == nil {
		if c, err := amqp.Dial(node.URL("/")); err == nil {
			ticks(ctx, c)
			_ = c.Close()
		}
		pause(tickEvery)
	}
}

// ticks sends the time until it fails.
func ticks(ctx context.Context, c *amqp.Connection) {
	ch, err := c.Channel()
	for err == nil && ctx.Err() == nil {
		now := strconv.FormatInt(time.Now().UnixMicro(), 10)
		err = ch.PublishWithContext(ctx, "", topic, false, false, amqp.Publishing{Type: "tick", Body: []byte(now), DeliveryMode: amqp.Persistent})
		pause(tickEvery)
	}
}

// rabbitQueue reads the queue.
type rabbitQueue struct {
	messages <-chan amqp.Delivery
	before   time.Time // the last tick
	waiting  []arrival // for the next one
}

// more returns what lies before the last tick that comes within a moment.
func (q *rabbitQueue) more(t *testing.T) (out []arrival) {
	t.Helper()
	for end := time.After(moment); ; {
		select {
		case <-end:
			return out
		case m, open := <-q.messages:
			if !open {
				t.Fatal("the consumer's connection was lost")
			}
			if m.Type != "tick" {
				q.waiting = append(q.waiting, arrival{event: parse(t, m.Body), from: q.before})
				continue
			}
			micros, err := strconv.ParseInt(string(m.Body), 10, 64)
			if err != nil {
				t.Fatal(err)
			}
			// Ticks of two connections may have changed places.
			if now := time.UnixMicro(micros); now.After(q.before) {
				q.before = now
			}
			for i := range q.waiting {
				q.waiting[i].to = q.before
			}
			out, q.waiting = append(out, q.waiting...), nil
		}
	}
}

// parse reads the payload of a message.
func parse(t *testing.T, payload []byte) event {
	t.Helper()
	var e event
	if err := json.Unmarshal(payload, &e); err != nil {
		t.Fatalf("a message arrived damaged: %v", err)
	}
	return e
}
