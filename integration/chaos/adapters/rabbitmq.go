package adapters

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	amqp "github.com/rabbitmq/amqp091-go"

	"github.com/postbag/postbag"
	"github.com/postbag/postbag/broker"
	"github.com/postbag/postbag/integration/chaos"
	"github.com/postbag/postbag/internal/testserver"
	"github.com/postbag/postbag/rabbitbroker"
)

// RabbitMQ is a quorum queue with rabbitbroker.
type RabbitMQ struct{}

const (
	rabbitQueue = "events"
	rabbitUser  = "relay"
)

// Name implements chaos.Broker.
func (RabbitMQ) Name() string { return "rabbitmq" }

// Open implements chaos.Broker.
func (RabbitMQ) Open(ctx context.Context, dsn string) (broker.Destination, error) {
	return rabbitbroker.Dial(ctx, dsn, rabbitbroker.Options{})
}

// Poison implements chaos.Broker: a header's name of more than 255 bytes cannot be written.
func (RabbitMQ) Poison(m *postbag.Message) bool {
	m.Headers[strings.Repeat("n", 300)] = "too long"
	return true
}

// rabbit is a started node with a queue. The queue keeps no times, so a clock ticks into it beside the relays. A tick says when it was
// sent, and is sent when the one before it is confirmed: so a message was stored after the time of the tick before it, and before the
// time of the second tick behind it.
type rabbit struct {
	node   *testserver.RabbitMQ
	wire   *chaos.Wire
	user   string // the DSN of relays, whose rights can be taken away
	ticker context.CancelFunc
	ended  sync.WaitGroup

	conn          *amqp.Connection
	channel       *amqp.Channel
	messages      <-chan amqp.Delivery
	before        time.Time // the last tick
	first, second []queued  // what waits for its first tick, and for its second
	given         []given
	unsure        map[string]time.Time // given out before the connection was lost, and perhaps not acknowledged
}

// queued is a message that was taken from the queue.
type queued struct {
	chaos.Arrival

	id  string
	tag uint64
}

// Start implements chaos.Broker.
func (RabbitMQ) Start(ctx context.Context, _ chaos.Terms) (_ chaos.Place, err error) {
	p := &rabbit{unsure: map[string]time.Time{}}
	defer func() {
		if err != nil {
			err = errors.Join(err, p.Close())
		}
	}()
	if p.node, err = testserver.StartRabbitMQ(ctx, testserver.RabbitMQOptions{}); err != nil {
		return nil, err
	}
	u, err := url.Parse(p.node.URL("/"))
	if err != nil {
		return nil, err
	}
	if p.wire, err = chaos.NewWire(u.Host); err != nil {
		return nil, err
	}
	password, _ := u.User.Password()
	if err := errors.Join(p.node.AddUser(ctx, rabbitUser, password), p.node.Allow(ctx, "/", rabbitUser, ".*", ".*", ".*")); err != nil {
		return nil, err
	}
	u.User, u.Host = url.UserPassword(rabbitUser, password), p.wire.Addr()
	p.user = u.String()
	if err := p.declare(); err != nil {
		return nil, err
	}
	if err := p.node.Remember(ctx); err != nil { // what is tried is not the node's list of new queues
		return nil, err
	}
	ticking, cancel := context.WithCancel(context.WithoutCancel(ctx))
	p.ticker = cancel
	p.ended.Go(func() { p.tick(ticking) })
	return p, nil
}

func (p *rabbit) declare() error {
	c, err := amqp.Dial(p.node.URL("/"))
	if err != nil {
		return err
	}
	ch, err := c.Channel()
	if err == nil {
		_, err = ch.QueueDeclare(rabbitQueue, true, false, false, false, amqp.Table{"x-queue-type": "quorum"})
	}
	return errors.Join(err, c.Close())
}

// purge deletes the queue with all that is in it.
func (p *rabbit) purge() error {
	c, err := amqp.Dial(p.node.URL("/"))
	if err != nil {
		return err
	}
	ch, err := c.Channel()
	if err == nil {
		_, err = ch.QueueDelete(rabbitQueue, false, false, false)
	}
	return errors.Join(err, c.Close())
}

// tick sends the time into the queue until ctx ends, over a new connection where one is lost.
func (p *rabbit) tick(ctx context.Context) {
	for ctx.Err() == nil {
		if c, err := amqp.Dial(p.node.URL("/")); err == nil {
			ch, err := c.Channel()
			if err == nil {
				err = ch.Confirm(false)
			}
			for err == nil && ctx.Err() == nil {
				err = tickOnce(ctx, ch)
				_ = chaos.Pause(ctx, tickEvery)
			}
			_ = c.Close() // it may be broken
		}
		_ = chaos.Pause(ctx, tickEvery)
	}
}

func tickOnce(ctx context.Context, ch *amqp.Channel) error {
	now := strconv.FormatInt(time.Now().UnixMicro(), 10)
	answer, err := ch.PublishWithDeferredConfirmWithContext(ctx, "", rabbitQueue, false, false,
		amqp.Publishing{Type: tickType, Body: []byte(now), DeliveryMode: amqp.Persistent})
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	if stored, err := answer.WaitContext(ctx); err != nil || !stored {
		return errors.New("adapters: a tick was not confirmed")
	}
	return nil
}

// Version implements chaos.Place.
func (*rabbit) Version() string { return "RabbitMQ, a quorum queue" }

// DSN implements chaos.Place.
func (p *rabbit) DSN() string { return p.user }

// Topic implements chaos.Place.
func (*rabbit) Topic() string { return rabbitQueue }

// More implements chaos.Place. What was read is acknowledged when it has its ticks, so that a lost connection loses nothing; what is
// not known to be acknowledged by then comes again, and is passed over once.
func (p *rabbit) More(ctx context.Context) (out []chaos.Arrival, err error) {
	if p.messages == nil {
		if err := p.consume(); err != nil {
			return nil, err
		}
	}
	end := time.NewTimer(300 * time.Millisecond)
	defer end.Stop()
	for {
		select {
		case <-ctx.Done():
			return out, ctx.Err()
		case <-end.C:
			return out, nil
		case m, open := <-p.messages:
			if !open {
				_ = p.conn.Close() // it is broken
				p.messages = nil
				return out, errors.New("adapters: the consumer's connection was lost")
			}
			ready, err := p.take(&m)
			out = append(out, ready...)
			if err != nil {
				return out, err
			}
		}
	}
}

// consume begins to read. What was not acknowledged comes again from there on.
func (p *rabbit) consume() (err error) {
	if p.conn, err = amqp.Dial(p.node.URL("/")); err != nil {
		return err
	}
	p.first, p.second, p.before = nil, nil, time.Time{}
	for _, g := range p.given {
		p.unsure[g.id] = g.at
	}
	p.given = nil
	if p.channel, err = p.conn.Channel(); err == nil {
		err = p.channel.Qos(5000, 0, false)
	}
	if err == nil {
		p.messages, err = p.channel.Consume(rabbitQueue, "", false, true, false, false, nil)
	}
	if err != nil {
		_ = p.conn.Close() // it is tried again
	}
	return err
}

// take takes a message from the queue and returns what has its second tick.
func (p *rabbit) take(m *amqp.Delivery) (ready []chaos.Arrival, err error) {
	if m.Type != tickType {
		if _, known := p.unsure[m.MessageId]; known {
			delete(p.unsure, m.MessageId)
			return nil, nil
		}
		key, err := url.PathUnescape(rabbitHeader(m, "Postbag-Key"))
		p.first = append(p.first, queued{id: m.MessageId, tag: m.DeliveryTag, Arrival: chaos.Arrival{
			Key: key, Headers: map[string]string{"tx": rabbitHeader(m, "tx")}, Payload: m.Body, From: p.before,
		}})
		return nil, err
	}
	micros, err := strconv.ParseInt(string(m.Body), 10, 64)
	if err != nil {
		return nil, fmt.Errorf("adapters: a tick: %w", err)
	}
	p.before = time.UnixMicro(micros)
	ready, err = p.release(p.second)
	p.first, p.second = nil, p.first
	return ready, err
}

// release gives out what has its ticks, and acknowledges it.
func (p *rabbit) release(all []queued) (ready []chaos.Arrival, err error) {
	now := time.Now()
	for id, at := range p.unsure {
		if now.Sub(at) > time.Minute {
			delete(p.unsure, id)
		}
	}
	for _, q := range all {
		q.To = p.before
		if q.From.IsZero() {
			q.From = q.To.Add(-time.Second)
		}
		ready = append(ready, q.Arrival)
		p.given = append(p.given, given{q.id, now})
	}
	for len(p.given) > 0 && now.Sub(p.given[0].at) > ackTime {
		p.given = p.given[1:]
	}
	if len(all) > 0 {
		err = p.channel.Ack(all[len(all)-1].tag, true)
	}
	return ready, err
}

// given is what was given out and acknowledged so lately that the node may not know it yet.
type given struct {
	id string
	at time.Time
}

// ackTime is how long an acknowledgement may take.
const ackTime = 3 * time.Second

func rabbitHeader(m *amqp.Delivery, name string) string {
	text, _ := m.Headers[name].(string)
	return text
}

// Close implements chaos.Place.
func (p *rabbit) Close() (err error) {
	if p.ticker != nil {
		p.ticker()
		p.ended.Wait()
	}
	if p.conn != nil {
		_ = p.conn.Close() // it may be broken
	}
	if p.wire != nil {
		err = p.wire.Close()
	}
	if p.node != nil {
		err = errors.Join(err, p.node.Close())
	}
	return err
}

// Faults implements chaos.Place.
func (p *rabbit) Faults() []chaos.Fault {
	during := func(name string, begin, end func(context.Context) error) chaos.Fault {
		return chaos.Fault{
			Name: name, Room: chaos.Brokers, Repeats: chaos.EveryRelay, Stops: true, Least: time.Second, Most: 4 * time.Second,
			Begin: func(ctx context.Context, _ *chaos.Strike) (func(context.Context) error, error) {
				return end, begin(ctx)
			},
		}
	}
	return slices.Concat(p.wire.Faults(chaos.BrokerWire), []chaos.Fault{
		p.wire.Doubtful("cut after a publish was sent", chaos.BrokerWire, chaos.EveryRelay, "Postbag-Key"),
		atOnce("restart of the broker", chaos.Brokers, p.node.Restart),
		gone("SIGKILL of the broker", chaos.Brokers, p.node),
		frozen("SIGSTOP of the broker", chaos.Brokers, p.node),
		wiped("queue deleted and recreated", func(ctx context.Context) error {
			return patiently(ctx, func() error {
				if err := p.purge(); err != nil {
					return err
				}
				return errors.Join(p.declare(), p.node.Remember(ctx))
			})
		}),
		during("memory alarm",
			func(ctx context.Context) error { return p.node.Alarm(ctx, true) },
			func(ctx context.Context) error { return p.node.Alarm(ctx, false) }),
		during("right to write taken away",
			func(ctx context.Context) error { return p.node.Allow(ctx, "/", rabbitUser, ".*", "^$", ".*") },
			func(ctx context.Context) error { return p.node.Allow(ctx, "/", rabbitUser, ".*", ".*", ".*") }),
		during("connections and channels closed by the server",
			func(ctx context.Context) error {
				_, err := p.node.Ctl(ctx, "close_all_user_connections", rabbitUser, "chaos")
				return err
			}, nil),
	})
}
