package adapters

import (
	"context"
	"errors"
	"net/url"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"time"

	amqp "github.com/rabbitmq/amqp091-go"

	"github.com/postbag/postbag"
	"github.com/postbag/postbag/broker"
	"github.com/postbag/postbag/broker/rabbitbroker"
	"github.com/postbag/postbag/internal/testserver"
	"github.com/postbag/postbag/proof/chaos"
	"github.com/postbag/postbag/source"
)

// RabbitMQ is an exchange and a quorum queue with rabbitbroker.
type RabbitMQ struct {
	// Stream has a stream in the queue's place, which can be read again.
	Stream bool
}

const (
	rabbitQueue    = "events"
	rabbitBranch   = "branch" // a second routing key of the same queue
	rabbitExchange = "chaos"
	rabbitUser     = "relay"
	rabbitMaxBytes = 64 << 10
)

// Name implements chaos.Broker.
func (r RabbitMQ) Name() string {
	if r.Stream {
		return "rabbitstream"
	}
	return "rabbitmq"
}

// Open implements chaos.Broker.
func (RabbitMQ) Open(ctx context.Context, dsn string) (broker.Destination, error) {
	return rabbitbroker.Dial(ctx, dsn, rabbitbroker.Options{Exchange: rabbitExchange})
}

// CanTake implements chaos.Taker: a stream has no source.
func (r RabbitMQ) CanTake() bool { return !r.Stream }

// Take implements chaos.Taker. One member gets all messages, and loses them to another one when it is silent for some heartbeats.
func (RabbitMQ) Take(ctx context.Context, dsn string) (source.Source, error) {
	return rabbitbroker.OpenSource(ctx, rabbitbroker.SourceOptions{
		URL: dsn, Login: rabbitbroker.Login{Heartbeat: chaos.SessionTimeout / 3}, Queue: rabbitQueue, Order: source.OrderStream,
		Topology: rabbitbroker.Topology{Queues: []rabbitbroker.Queue{{Name: rabbitQueue, Arguments: map[string]any{amqp.SingleActiveConsumerArg: true}}}},
	})
}

// Poison implements chaos.Broker: a header's name of more than 255 bytes cannot be written, and for a payload that is too large the
// server closes the channel with all that is on its way there.
func (RabbitMQ) Poison(m *postbag.Message) bool {
	if m.ID[len(m.ID)-1]%2 == 0 {
		m.Headers[strings.Repeat("n", 300)] = "too long"
	} else {
		m.Payload = append(m.Payload, strings.Repeat(" ", 2*rabbitMaxBytes)...)
	}
	return true
}

// rabbit is a started node with a queue, which keeps no times: a clock ticks into it.
type rabbit struct {
	rabbitReader

	inbox    bool // one consumer at a time gets all messages, and nothing else is in the queue
	node     *testserver.RabbitMQ
	disk     *testserver.Tmpfs
	wire     *chaos.Wire
	user     string // the DSN of relays, whose rights can be taken away
	password string
	ticker   context.CancelFunc
	ended    sync.WaitGroup
}

// Start implements chaos.Broker.
func (r RabbitMQ) Start(ctx context.Context, t chaos.Terms) (_ chaos.Place, err error) {
	p := &rabbit{inbox: t.Inbox}
	defer func() {
		if err != nil {
			err = errors.Join(err, p.Close())
		}
	}()
	o := testserver.RabbitMQOptions{
		MaxMessageSize: rabbitMaxBytes, Config: []string{"raft.wal_max_size_bytes = 33554432"}, StartTimeout: 5 * time.Minute,
	}
	if p.disk, err = smallDisk(ctx, t); err != nil {
		return nil, err
	}
	if p.disk != nil {
		o.DataDir = filepath.Join(p.disk.Dir(), "node")
	}
	if p.node, err = testserver.StartRabbitMQ(ctx, o); err != nil {
		return nil, err
	}
	p.rabbitReader = rabbitReader{url: p.node.URL("/"), stream: r.Stream, before: time.Now()}
	u, err := url.Parse(p.url)
	if err != nil {
		return nil, err
	}
	if p.wire, err = chaos.NewWire(u.Host); err != nil {
		return nil, err
	}
	p.password, _ = u.User.Password()
	u.User, u.Host = url.UserPassword(rabbitUser, p.password), p.wire.Addr()
	p.user = u.String()
	if err := p.furnish(ctx); err != nil {
		return nil, err
	}
	if p.inbox {
		return p, nil
	}
	ticking, cancel := context.WithCancel(context.WithoutCancel(ctx))
	p.ticker = cancel
	p.ended.Go(func() { p.tick(ticking) })
	return p, nil
}

// furnish gives a node that has nothing what relays need. What is tried is not the node's list of new queues: it is remembered.
func (p *rabbit) furnish(ctx context.Context) error {
	if err := errors.Join(p.node.AddUser(ctx, rabbitUser, p.password), p.node.Allow(ctx, "/", rabbitUser, ".*", ".*", ".*")); err != nil {
		return err
	}
	return errors.Join(p.declare(), p.node.Remember(ctx))
}

// admin does something over a channel of its own.
func (p *rabbit) admin(do func(*amqp.Channel) error) error {
	c, err := amqp.Dial(p.node.URL("/"))
	if err != nil {
		return err
	}
	ch, err := c.Channel()
	if err == nil {
		err = do(ch)
	}
	return errors.Join(err, c.Close())
}

// declare makes exchange, queue and the binding between them where they are not.
func (p *rabbit) declare() error {
	args := amqp.Table{amqp.QueueTypeArg: "quorum"}
	if p.stream {
		args[amqp.QueueTypeArg] = "stream"
	}
	if p.inbox {
		args[amqp.SingleActiveConsumerArg] = true
	}
	return p.admin(func(ch *amqp.Channel) error {
		if err := ch.ExchangeDeclare(rabbitExchange, "direct", true, false, false, false, nil); err != nil {
			return err
		}
		if _, err := ch.QueueDeclare(rabbitQueue, true, false, false, false, args); err != nil {
			return err
		}
		if err := ch.QueueBind(rabbitQueue, rabbitBranch, rabbitExchange, false, nil); err != nil {
			return err
		}
		return ch.QueueBind(rabbitQueue, rabbitQueue, rabbitExchange, false, nil)
	})
}

// purge deletes the queue with all that is in it.
func (p *rabbit) purge() error {
	return p.admin(func(ch *amqp.Channel) error {
		_, err := ch.QueueDelete(rabbitQueue, false, false, false)
		return err
	})
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
		amqp.Publishing{Type: tickType, MessageId: now, Body: []byte(now), DeliveryMode: amqp.Persistent})
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
func (p *rabbit) Version() string {
	if p.stream {
		return "RabbitMQ, a stream"
	}
	return "RabbitMQ, a quorum queue"
}

// DSN implements chaos.Place.
func (p *rabbit) DSN() string { return p.user }

// Topic implements chaos.Place.
func (*rabbit) Topic() string { return rabbitQueue }

// Branch implements chaos.Branched.
func (*rabbit) Branch() string { return rabbitBranch }

// Close implements chaos.Place.
func (p *rabbit) Close() error {
	if p.ticker != nil {
		p.ticker()
		p.ended.Wait()
	}
	p.hangUp()
	return errors.Join(closed(p.wire), closed(p.node), closed(p.disk))
}
