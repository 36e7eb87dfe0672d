package pairs

import (
	"context"
	"encoding/json"
	"errors"
	"strconv"
	"testing"
	"time"

	amqp "github.com/rabbitmq/amqp091-go"

	"github.com/postbag/postbag/internal/testserver"
	"github.com/postbag/postbag/internal/testserver/servertest"
)

// startRabbitMQ starts a broker with a quorum queue. The queue keeps no times, so a clock ticks into it beside the relays. A
// tick says when it was sent, and is sent when the one before it is confirmed: so a message was stored after the time of the
// tick before it, and before the time of the second tick behind it.
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
	if err == nil {
		err = ch.Confirm(false)
	}
	for err == nil && ctx.Err() == nil {
		err = tickOnce(ctx, ch)
		pause(tickEvery)
	}
}

func tickOnce(ctx context.Context, ch *amqp.Channel) error {
	now := strconv.FormatInt(time.Now().UnixMicro(), 10)
	answer, err := ch.PublishWithDeferredConfirmWithContext(ctx, "", topic, false, false,
		amqp.Publishing{Type: "tick", Body: []byte(now), DeliveryMode: amqp.Persistent})
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, 30*time.Second)
	defer cancel()
	if stored, err := answer.WaitContext(ctx); err != nil || !stored {
		return errors.New("a tick was not confirmed")
	}
	return nil
}

// rabbitQueue reads the queue.
type rabbitQueue struct {
	messages <-chan amqp.Delivery
	before   time.Time // the last tick
	first    []arrival // what waits for its first tick
	second   []arrival // and for its second
}

// more returns what has its ticks within a moment.
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
			if m.Type == "tick" {
				out = append(out, q.tick(t, m.Body)...)
			} else {
				q.first = append(q.first, arrival{event: parse(t, m.Body), from: q.before})
			}
		}
	}
}

// tick returns what was waiting for its second tick.
func (q *rabbitQueue) tick(t *testing.T, body []byte) []arrival {
	t.Helper()
	micros, err := strconv.ParseInt(string(body), 10, 64)
	if err != nil {
		t.Fatal(err)
	}
	q.before = time.UnixMicro(micros)
	out := q.second
	for i := range out {
		out[i].to = q.before
	}
	q.first, q.second = nil, q.first
	return out
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
