package adapters

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	amqp "github.com/rabbitmq/amqp091-go"

	"github.com/postbag/postbag/proof/chaos"
)

// Faults implements chaos.Place.
func (p *rabbit) Faults() []chaos.Fault {
	all := slices.Concat(p.wire.Faults(chaos.BrokerWire), []chaos.Fault{
		p.wire.Doubtful("cut after a publish was sent", chaos.BrokerWire, chaos.EveryRelay, "Postbag-Key"),
		p.wire.Lost("answer to a publish lost", chaos.BrokerWire, chaos.EveryRelay, "\x00\x3c\x00\x50"), // basic.ack
		atOnce("restart of the broker", chaos.Brokers, p.node.Restart),
		gone("SIGKILL of the broker", chaos.Brokers, p.node),
		frozen("SIGSTOP of the broker", chaos.Brokers, p.node),
		wiped("queue deleted and recreated", p.recreate),
		wiped("restart of the broker with its data wiped", p.forget),
		during("memory alarm", p.ctl("set_vm_memory_high_watermark", "0.0001"), p.ctl("set_vm_memory_high_watermark", "0.4")),
		during("disk alarm", p.ctl("set_disk_free_limit", "1000000000000000"), p.ctl("set_disk_free_limit", "1000000")),
		during("right to write taken away", p.revoke, p.grant),
		during("exchange deleted so that channels are closed", p.unroute, p.route),
		ofTopic("routing key that leads to no queue", rabbitBranch, p.unbind, p.route),
		atOnce("all connections closed by an operator", chaos.Brokers, p.ctl("close_all_user_connections", rabbitUser, "chaos")),
		atOnce("a connection closed by an operator", chaos.Brokers, p.closeOne),
	})
	if !p.stream { // which forgets what is old and never refuses
		all = append(all, during("full queue that rejects publishes", p.fill, p.drain))
	}
	return append(all, p.fullDisk())
}

// fullDisk is a disk without room under the node, which then has to be killed, since it waits for its log in vain. RabbitMQ confirms a
// few messages meanwhile that are not there after its start, and may not be able to read the queue any more: then that is made again.
func (p *rabbit) fullDisk() chaos.Fault {
	return chaos.Fault{
		Name: diskFull, Room: chaos.Brokers, Repeats: chaos.EveryRelay, Stops: true, Wipes: true, Least: time.Second, Most: 4 * time.Second,
		Begin: func(ctx context.Context, s *chaos.Strike) (func(context.Context) error, error) {
			if p.disk == nil {
				s.Idle(noDisk)
				return nil, nil
			}
			return nil, s.Wipe(ctx, func(ctx context.Context) error {
				makeRoom, err := p.disk.Full(ctx)
				if err != nil {
					return err
				}
				if !p.stream { // it forgets, too, what was taken and acknowledged
					defer p.reread(time.Now().Add(-10 * time.Second))
				}
				if err := errors.Join(chaos.Pause(ctx, s.For), p.node.Kill(ctx), makeRoom(ctx), p.node.Start(ctx)); err != nil || p.readable(ctx) {
					return err
				}
				s.Note("the queue cannot be read any more, and is made again")
				return p.recreate(ctx)
			})
		},
	}
}

// readable says whether somebody may read the queue, which a node that was just started may say late.
func (p *rabbit) readable(ctx context.Context) bool {
	ctx, cancel := context.WithTimeout(ctx, 20*time.Second)
	defer cancel()
	return patiently(ctx, func() error {
		return p.admin(func(ch *amqp.Channel) error {
			err := ch.Qos(1, 0, false)
			if err == nil {
				_, err = ch.Consume(rabbitQueue, "", false, false, false, false, nil)
			}
			return err
		})
	}) == nil
}

// ctl is a command to the node, given until it takes it.
func (p *rabbit) ctl(args ...string) func(context.Context) error {
	return func(ctx context.Context) error {
		return patiently(ctx, func() error {
			_, err := p.node.Ctl(ctx, args...)
			return err
		})
	}
}

// recreate deletes the queue and makes it again.
func (p *rabbit) recreate(ctx context.Context) error {
	defer p.stale.Store(true)
	return patiently(ctx, func() error {
		if err := p.purge(); err != nil {
			return err
		}
		return errors.Join(p.declare(), p.node.Remember(ctx))
	})
}

// forget takes all that the node has away.
func (p *rabbit) forget(ctx context.Context) error {
	defer p.stale.Store(true)
	return patiently(ctx, func() error { return errors.Join(p.node.Reset(ctx), p.furnish(ctx)) })
}

// revoke takes the right to write away. A channel that has used it goes on for ever, so the connections are closed too.
func (p *rabbit) revoke(ctx context.Context) error {
	return errors.Join(
		p.ctl("set_permissions", "-p", "/", rabbitUser, ".*", "^$", ".*")(ctx),
		p.ctl("close_all_user_connections", rabbitUser, "chaos")(ctx))
}

func (p *rabbit) grant(ctx context.Context) error {
	return p.ctl("set_permissions", "-p", "/", rabbitUser, ".*", ".*", ".*")(ctx)
}

// unroute deletes the exchange: the channel of a publisher to it is closed.
func (p *rabbit) unroute(ctx context.Context) error {
	return patiently(ctx, func() error {
		return p.admin(func(ch *amqp.Channel) error { return ch.ExchangeDelete(rabbitExchange, false, false) })
	})
}

// unbind has the exchange lead the second topic nowhere.
func (p *rabbit) unbind(ctx context.Context) error {
	return patiently(ctx, func() error {
		return p.admin(func(ch *amqp.Channel) error { return ch.QueueUnbind(rabbitQueue, rabbitBranch, rabbitExchange, nil) })
	})
}

func (p *rabbit) route(ctx context.Context) error { return patiently(ctx, p.declare) }

// closeOne closes the connection of one of the relays, if there is one.
func (p *rabbit) closeOne(ctx context.Context) error {
	return patiently(ctx, func() error {
		list, err := p.node.Ctl(ctx, "list_connections", "pid", "user")
		if err != nil {
			return err
		}
		for line := range strings.Lines(list) {
			if f := strings.Fields(line); len(f) == 2 && f[1] == rabbitUser {
				_, err := p.node.Ctl(ctx, "close_connection", f[0], "chaos")
				return err
			}
		}
		return nil
	})
}

// fill lets the queue hold one message, and nobody takes it.
func (p *rabbit) fill(ctx context.Context) error {
	p.away.Store(true)
	return p.limit(ctx, 1)
}

// drain gives it room. The limit is a higher one and not none: a quorum queue without one goes on refusing, as it did with it.
func (p *rabbit) drain(ctx context.Context) error {
	defer p.away.Store(false)
	return p.limit(ctx, 1e9)
}

func (p *rabbit) limit(ctx context.Context, n int) error {
	policy := fmt.Sprintf(`{"max-length":%d,"overflow":"reject-publish"}`, n)
	return p.ctl("set_policy", "limit", "^"+rabbitQueue+"$", policy, "--apply-to", "queues")(ctx)
}
