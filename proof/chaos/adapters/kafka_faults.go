package adapters

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/postbag/postbag/internal/testserver"
	"github.com/postbag/postbag/proof/chaos"
)

// Faults implements chaos.Place.
func (p *kafka) Faults() []chaos.Fault {
	all := append(chaos.Together(chaos.BrokerWire, p.wires...),
		p.wires[0].Doubtful("cut after a publish to the first node was sent", chaos.BrokerWire, chaos.EveryRelay, "Postbag-Id"),
		atOnce("restart of all nodes", chaos.Brokers, p.server.Restart),
		gone("SIGKILL of all nodes", chaos.Brokers, p.server),
		during("right to write taken away", p.revoke(kafkaTopic, kafkaBranch), p.restore(kafkaTopic, kafkaBranch)),
		ofTopic("right to write to one topic taken away", kafkaBranch, p.revoke(kafkaBranch), p.restore(kafkaBranch)),
		p.fullDisk())
	if !p.once {
		all = append(all, wiped("topic deleted and recreated", p.recreate), wiped("restart of all nodes with their data wiped", p.forget))
	}
	if len(p.wires) == 1 {
		return append(all, frozen("SIGSTOP of the node", chaos.Brokers, p.server.Nodes()[0]))
	}
	return slices.Concat(all, []chaos.Fault{
		p.some("SIGKILL of a node that leads some partitions", 1, func(ctx context.Context, n *testserver.KafkaNode) (func(context.Context) error, error) {
			return n.Start, n.Kill(ctx)
		}),
		p.some("stop of a node that follows in some partitions", 1, func(ctx context.Context, n *testserver.KafkaNode) (func(context.Context) error, error) {
			return n.Start, n.Stop(ctx)
		}),
		p.some("SIGSTOP of two nodes: too few replicas are in sync", 2, func(_ context.Context, n *testserver.KafkaNode) (func(context.Context) error, error) {
			return func(context.Context) error { return n.Resume() }, n.Pause()
		}),
	})
}

// some is a fault of n nodes.
func (p *kafka) some(name string, n int, do func(context.Context, *testserver.KafkaNode) (func(context.Context) error, error)) chaos.Fault {
	return chaos.Fault{
		Name: name, Room: chaos.Brokers, Repeats: chaos.EveryRelay, Stops: n > 1, Least: 2 * time.Second, Most: 8 * time.Second,
		Begin: func(ctx context.Context, s *chaos.Strike) (func(context.Context) error, error) {
			nodes := slices.Clone(p.server.Nodes())
			s.Rand.Shuffle(len(nodes), func(i, j int) { nodes[i], nodes[j] = nodes[j], nodes[i] })
			var ends []func(context.Context) error
			end := func(ctx context.Context) (err error) {
				for _, one := range ends {
					err = errors.Join(err, one(ctx))
				}
				return err
			}
			for _, node := range nodes[:n] {
				s.Note(fmt.Sprintf("node %d", node.ID()))
				one, err := do(ctx, node)
				ends = append(ends, one)
				if err != nil {
					return nil, errors.Join(err, end(ctx))
				}
			}
			return end, nil
		},
	}
}

// fullDisk is the first node's, which ends for it. The others go on if there are any.
func (p *kafka) fullDisk() chaos.Fault {
	node := p.server.Nodes()[0]
	return full(diskFull, chaos.Brokers, p.disk, func(ctx context.Context) error {
		return errors.Join(node.Kill(ctx), node.Start(ctx))
	})
}

// admin does something as who may do all.
func (p *kafka) admin(ctx context.Context, do func(context.Context, *kadm.Client) error) error {
	c, err := kgo.NewClient(kgo.SeedBrokers(p.server.Brokers()...))
	if err != nil {
		return err
	}
	defer c.Close()
	return patiently(ctx, func() error {
		ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
		defer cancel()
		return do(ctx, kadm.NewClient(c))
	})
}

// warm returns when the nodes store something for all replicas, which just after their start takes them long.
func (p *kafka) warm(ctx context.Context, nodes int) error {
	const topic = "warm"
	err := p.admin(ctx, func(ctx context.Context, c *kadm.Client) error {
		_, err := c.CreateTopic(ctx, kafkaPartitions, int16(nodes), nil, topic)
		if errors.Is(err, kerr.TopicAlreadyExists) {
			return nil // an answer was lost
		}
		return err
	})
	if err != nil {
		return err
	}
	c, err := kgo.NewClient(kgo.SeedBrokers(p.server.Brokers()...), kgo.RecordPartitioner(kgo.RoundRobinPartitioner()))
	if err != nil {
		return err
	}
	defer c.Close()
	var records []*kgo.Record
	for range 2 * kafkaPartitions {
		records = append(records, &kgo.Record{Topic: topic, Value: []byte("warm")})
	}
	return c.ProduceSync(ctx, records...).FirstErr()
}

// recreate deletes the topic; a relay makes it again, as it has done before.
func (p *kafka) recreate(ctx context.Context) error {
	defer p.gone.Store(true)
	return p.admin(ctx, func(ctx context.Context, c *kadm.Client) error {
		_, err := c.DeleteTopic(ctx, kafkaTopic)
		if errors.Is(err, kerr.UnknownTopicOrPartition) {
			return nil // an answer was lost
		}
		return err
	})
}

// forget takes all that the nodes have away. The topic is made again by the first client that needs it.
func (p *kafka) forget(ctx context.Context) error {
	defer p.stale.Store(true)
	return errors.Join(p.server.Wipe(ctx), p.grant(ctx))
}

// grant gives the relays' user every right.
func (p *kafka) grant(ctx context.Context) error {
	return p.allow(ctx, kadm.NewACLs().Topics("*").Groups("*").TransactionalIDs("*").Clusters().
		Allow("User:"+testserver.KafkaUser).AllowHosts("*").Operations(kadm.OpAll))
}

// denial is the rule that takes the right to write to some topics away. It is stronger than what grant gave.
func denial(topics []string) *kadm.ACLBuilder {
	return kadm.NewACLs().Topics(topics...).ResourcePatternType(kadm.ACLPatternLiteral).
		Deny("User:" + testserver.KafkaUser).DenyHosts("*").Operations(kadm.OpWrite)
}

func (p *kafka) revoke(topics ...string) func(context.Context) error {
	return func(ctx context.Context) error { return p.allow(ctx, denial(topics)) }
}

func (p *kafka) restore(topics ...string) func(context.Context) error {
	return func(ctx context.Context) error {
		return p.admin(ctx, func(ctx context.Context, c *kadm.Client) error {
			gone, err := c.DeleteACLs(ctx, denial(topics))
			for _, g := range gone {
				err = errors.Join(err, g.Err)
			}
			return err
		})
	}
}

// allow makes a rule.
func (p *kafka) allow(ctx context.Context, rule *kadm.ACLBuilder) error {
	rule.ResourcePatternType(kadm.ACLPatternLiteral)
	return p.admin(ctx, func(ctx context.Context, c *kadm.Client) error {
		made, err := c.CreateACLs(ctx, rule)
		for _, m := range made {
			err = errors.Join(err, m.Err)
		}
		return err
	})
}
