package rabbitbroker_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net/url"
	"os"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	amqp "github.com/rabbitmq/amqp091-go"

	"github.com/postbag/postbag"
	"github.com/postbag/postbag/broker"
	"github.com/postbag/postbag/broker/brokertest"
	"github.com/postbag/postbag/broker/rabbitbroker"
	"github.com/postbag/postbag/internal/publishtest"
	"github.com/postbag/postbag/internal/testserver"
	"github.com/postbag/postbag/internal/testserver/servertest"
)

const (
	user     = "app"
	password = "canary-password-of-the-test"
	// maxMessage is the shared server's max_message_size.
	maxMessage = 1 << 20
)

// server is one node for all tests that do it no harm, started by the first.
var server struct {
	once sync.Once
	node *testserver.RabbitMQ
	err  error
}

func TestMain(m *testing.M) {
	code := m.Run()
	server.once.Do(func() {})
	if server.node != nil {
		if err := server.node.Close(); err != nil {
			fmt.Fprintln(os.Stderr, "the shared RabbitMQ was not closed:", err)
			code = max(code, 1)
		}
	}
	os.Exit(code)
}

func options() testserver.RabbitMQOptions {
	return testserver.RabbitMQOptions{User: user, Password: password, MaxMessageSize: maxMessage, TLS: true}
}

func shared(t testing.TB) *testserver.RabbitMQ {
	t.Helper()
	server.once.Do(func() { server.node, server.err = testserver.StartRabbitMQ(context.Background(), options()) })
	servertest.Need(t, server.err)
	return server.node
}

// via replaces host and port of a URL, to go by way of a proxy.
func via(t testing.TB, text, address string) string {
	t.Helper()
	u, err := url.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	u.Host = address
	return u.String()
}

func address(t testing.TB, text string) string {
	t.Helper()
	u, err := url.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	return u.Host
}

// queueCount numbers queues, so that no two tests share one.
var queueCount atomic.Int64

// place is a queue of one test's own.
type place struct {
	url      string
	kind     string // classic, quorum or stream
	queue    string
	exchange string // empty: the default one; the routing key is then the queue's name

	mu   sync.Mutex
	held []amqp.Delivery // read and taken out of the queue
}

func newPlace(t testing.TB, node *testserver.RabbitMQ, kind string, exchange bool) *place {
	t.Helper()
	p := &place{url: node.URL("/"), kind: kind, queue: fmt.Sprintf("%s-%d.made", kind, queueCount.Add(1))}
	if exchange {
		p.exchange = "to-" + p.queue
	}
	return p
}

// channel is one for the test.
func channel(t testing.TB, url string) *amqp.Channel {
	t.Helper()
	ch, err := open(t, url)
	if err != nil {
		t.Fatalf("no channel to the test's server: %v", err)
	}
	return ch
}

func open(t testing.TB, url string) (*amqp.Channel, error) {
	t.Helper()
	conn, err := amqp.Dial(url)
	if err != nil {
		return nil, err
	}
	t.Cleanup(func() { _ = conn.Close() })
	return conn.Channel()
}

// create makes queue, exchange and binding. args are the queue's.
func (p *place) create(t testing.TB, args amqp.Table) *place {
	t.Helper()
	ch := channel(t, p.url)
	all := amqp.Table{"x-queue-type": p.kind}
	maps.Copy(all, args)
	if _, err := ch.QueueDeclare(p.queue, true, false, false, false, all); err != nil {
		t.Fatal(err)
	}
	if p.exchange == "" {
		return p
	}
	if err := errors.Join(ch.ExchangeDeclare(p.exchange, "topic", true, false, false, false, nil),
		ch.QueueBind(p.queue, "#", p.exchange, false, nil)); err != nil {
		t.Fatal(err)
	}
	return p
}

// read returns what the queue holds, and has held when it was read before.
func (p *place) read(t testing.TB) []amqp.Delivery {
	t.Helper()
	p.mu.Lock()
	defer p.mu.Unlock()
	conn, err := amqp.Dial(p.url)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close() }()
	ch, err := conn.Channel()
	if err != nil {
		t.Fatal(err)
	}
	if p.kind == "stream" {
		p.held = readStream(t, ch, p.queue)
		return p.held
	}
	for {
		m, ok, err := ch.Get(p.queue, true)
		if err != nil {
			t.Fatal(err)
		}
		if !ok {
			return slices.Clone(p.held)
		}
		p.held = append(p.held, m)
	}
}

// readStream reads a stream up to a mark that it puts at its end, and leaves marks
// out.
func readStream(t testing.TB, ch *amqp.Channel, queue string) (held []amqp.Delivery) {
	t.Helper()
	mark := "mark-" + postbag.NewID().String()
	if err := errors.Join(ch.Confirm(false), ch.Qos(500, 0, false)); err != nil {
		t.Fatal(err)
	}
	sent, err := ch.PublishWithDeferredConfirm("", queue, true, false, amqp.Publishing{AppId: mark})
	if err != nil {
		t.Fatal(err)
	}
	if ok, err := sent.WaitContext(publishtest.Timeout(t, time.Minute)); !ok || err != nil {
		t.Fatalf("the stream does not take the test's own mark: %v", err)
	}
	incoming, err := ch.Consume(queue, "", false, false, false, false, amqp.Table{"x-stream-offset": "first"})
	if err != nil {
		t.Fatal(err)
	}
	deadline := publishtest.Timeout(t, time.Minute)
	for {
		select {
		case m, open := <-incoming:
			if !open {
				t.Fatal("the stream ended")
			}
			if err := m.Ack(false); err != nil {
				t.Fatal(err)
			}
			if m.AppId == mark {
				return held
			}
			if !strings.HasPrefix(m.AppId, "mark-") {
				held = append(held, m)
			}
		case <-deadline.Done():
			t.Fatal("the stream does not come to its end")
		}
	}
}

// stored is read for the suite: decoded by the suite's own rules, not by Message.
func (p *place) stored(t *testing.T) []brokertest.Received {
	t.Helper()
	var held []brokertest.Received
	for _, m := range p.read(t) {
		if m.DeliveryMode != amqp.Persistent {
			t.Errorf("the delivery mode is %d, want persistent", m.DeliveryMode)
		}
		headers := texts(m)
		if m.MessageId != headers["Postbag-Id"] {
			t.Errorf("the message-id is %q, want the message's id", m.MessageId)
		}
		facts, others := map[string]string{}, map[string]string{}
		for name, value := range headers {
			switch {
			case strings.HasPrefix(name, "Postbag-") && name != "Postbag-Replay":
				facts[name] = value
			case strings.HasPrefix(name, "%"):
				others[broker.Unescape(name[:3])+name[3:]] = value
			default:
				others[name] = value
			}
		}
		topic := m.RoutingKey
		if p.exchange == "" {
			topic = p.queue
		}
		r, err := brokertest.FromHeaders(topic, facts, m.Body)
		if err != nil {
			t.Fatal(err)
		}
		r.Headers = others
		held = append(held, r)
	}
	return held
}

// wired is read for the suite, nothing decoded.
func (p *place) wired(t *testing.T) []brokertest.Wired {
	t.Helper()
	var held []brokertest.Wired
	for _, m := range p.read(t) {
		held = append(held, brokertest.Wired{Headers: texts(m), ContentType: m.ContentType, Payload: m.Body})
	}
	return held
}

// texts are the headers that are text: a stream adds a number.
func texts(m amqp.Delivery) map[string]string {
	headers := map[string]string{}
	for name, value := range m.Headers {
		if text, ok := value.(string); ok {
			headers[name] = text
		}
	}
	return headers
}

func (p *place) options() rabbitbroker.Options { return rabbitbroker.Options{Exchange: p.exchange} }

func (p *place) fixture(d *rabbitbroker.Destination) brokertest.Fixture {
	return brokertest.Fixture{Destination: d, Topic: p.queue, Stored: p.stored, Wired: p.wired}
}

func dial(t testing.TB, url string, o rabbitbroker.Options) *rabbitbroker.Destination {
	t.Helper()
	d, err := rabbitbroker.Dial(t.Context(), url, o)
	if err != nil {
		t.Fatal(err)
	}
	return d
}
