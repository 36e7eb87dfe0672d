package rabbitbroker_test

import (
	"maps"
	"sync"
	"testing"
	"time"

	amqp "github.com/rabbitmq/amqp091-go"

	"github.com/postbag/postbag/broker"
	"github.com/postbag/postbag/broker/rabbitbroker"
	"github.com/postbag/postbag/internal/publishtest"
	"github.com/postbag/postbag/internal/testserver"
	"github.com/postbag/postbag/internal/testserver/servertest"
	"github.com/postbag/postbag/source"
	"github.com/postbag/postbag/source/sourcetest"
)

func TestASourceConformsOnClassicQueues(t *testing.T) {
	t.Parallel()
	sourcetest.Run(t, sourceHarness(t, "classic", source.OrderNone))
}

func TestASourceConformsOnQuorumQueues(t *testing.T) {
	t.Parallel()
	sourcetest.Run(t, sourceHarness(t, "quorum", source.OrderNone))
}

func TestASourceWithAnOrderConformsOnClassicQueues(t *testing.T) {
	t.Parallel()
	sourcetest.Run(t, sourceHarness(t, "classic", source.OrderStream))
}

func TestASourceWithAnOrderConformsOnQuorumQueues(t *testing.T) {
	t.Parallel()
	sourcetest.Run(t, sourceHarness(t, "quorum", source.OrderStream))
}

// suitePrefetch is more than what any case has at work.
const suitePrefetch = 700

// sourceHarness runs the suite on the shared server. An outage is one of the network here; outage_test.go kills a server.
func sourceHarness(t *testing.T, kind string, order source.Order) sourcetest.Harness {
	t.Helper()
	node := shared(t)
	features := source.Features{Order: order, Counts: true, MaxUnacked: suitePrefetch, Binding: broker.BindingAMQP}
	return sourcetest.Harness{
		On: "RabbitMQ, " + kind + " queue, order " + order.String(),
		Open: func(t *testing.T) sourcetest.Fixture {
			f, _ := sourceFixture(t, node, kind, features)
			return f
		},
		Outage: func(t *testing.T) (sourcetest.Fixture, sourcetest.Switch) {
			f, lines := sourceFixture(t, node, kind, features)
			return f, sourcetest.Switch{
				Off: func() { lines.each(down(t)) },
				On: func() {
					lines.each(func(line *testserver.Proxy) {
						if err := line.Resume(); err != nil {
							t.Error(err)
						}
					})
				},
			}
		},
		Features:  features,
		NoKeys:    true,
		NoRepeats: true,
		Secrets:   []string{password},
		Quiet:     500 * time.Millisecond,
		Patience:  time.Minute,
	}
}

// down makes a server unreachable.
func down(t *testing.T) func(line *testserver.Proxy) {
	t.Helper()
	return func(line *testserver.Proxy) {
		if err := line.Refuse(); err != nil {
			t.Error(err)
		}
		line.Cut()
	}
}

// proxies are those of a fixture's sources.
type proxies struct {
	mu sync.Mutex
	of map[source.Source]*testserver.Proxy
}

func (p *proxies) each(do func(line *testserver.Proxy)) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for line := range maps.Values(p.of) {
		do(line)
	}
}

func sourceFixture(t *testing.T, node *testserver.RabbitMQ, kind string, features source.Features) (sourcetest.Fixture, *proxies) {
	t.Helper()
	p := newPlace(t, node, kind, false)
	o := p.taking(features.Order)
	o.Prefetch = features.MaxUnacked
	p.create(t, p.arguments(features.Order))
	lines := &proxies{of: map[source.Source]*testserver.Proxy{}}
	ch := confirming(t, p.url)
	return sourcetest.Fixture{
		Join: func(t *testing.T) source.Source {
			line := servertest.Proxy(t, address(t, p.url))
			mine := o
			mine.URL = via(t, p.url, line.Addr())
			src := opened(t, mine)
			lines.mu.Lock()
			defer lines.mu.Unlock()
			lines.of[src] = line
			return src
		},
		Send: func(t *testing.T, msgs ...source.Message) { sendTo(t, ch, p.queue, msgs...) },
		Kill: func(t *testing.T, s source.Source) {
			lines.mu.Lock()
			defer lines.mu.Unlock()
			down(t)(lines.of[s])
		},
		Rebalance: func(*testing.T) { lines.each((*testserver.Proxy).Cut) },
		SendUndecodable: func(t *testing.T) {
			published(t, ch, p.queue, amqp.Publishing{Headers: amqp.Table{"deep": nested(40)}, Timestamp: time.Now()})
		},
	}, lines
}

// nested is a table in a table, and so on.
func nested(depth int) amqp.Table {
	table := amqp.Table{"end": "reached"}
	for range depth {
		table = amqp.Table{"t": table}
	}
	return table
}

// sendTo stores messages in a queue.
func sendTo(t *testing.T, ch *amqp.Channel, queue string, msgs ...source.Message) {
	t.Helper()
	var all []amqp.Publishing
	for _, m := range msgs {
		p := amqp.Publishing{Headers: amqp.Table{}, Body: m.Payload, DeliveryMode: amqp.Persistent, Timestamp: time.Now()}
		for _, h := range m.Headers {
			p.Headers[h.Name] = h.Value
		}
		all = append(all, p)
	}
	published(t, ch, queue, all...)
}

// confirming is a channel for the test's own messages.
func confirming(t testing.TB, url string) *amqp.Channel {
	t.Helper()
	ch := channel(t, url)
	if err := ch.Confirm(false); err != nil {
		t.Fatal(err)
	}
	return ch
}

// published stores messages in a queue over a channel that confirms, and waits for that.
func published(t testing.TB, ch *amqp.Channel, queue string, all ...amqp.Publishing) {
	t.Helper()
	var sent []*amqp.DeferredConfirmation
	for _, p := range all {
		confirm, err := ch.PublishWithDeferredConfirm("", queue, true, false, p)
		if err != nil {
			t.Fatal(err)
		}
		sent = append(sent, confirm)
	}
	for _, confirm := range sent {
		if ok, err := confirm.WaitContext(publishtest.Timeout(t, time.Minute)); !ok || err != nil {
			t.Fatalf("the queue does not take a message of the test: %v", err)
		}
	}
}

// arguments are those of a queue that is read in an order.
func (p *place) arguments(order source.Order) amqp.Table {
	if order == source.OrderStream {
		return amqp.Table{"x-single-active-consumer": true}
	}
	return nil
}

// taking are the options of a source of p.
func (p *place) taking(order source.Order) rabbitbroker.SourceOptions {
	o := rabbitbroker.SourceOptions{URL: p.url, Queue: p.queue, Order: order}
	if order == source.OrderStream {
		o.Topology.Queues = []rabbitbroker.Queue{{Name: p.queue, Type: p.kind, Arguments: p.arguments(order)}}
	}
	return o
}
