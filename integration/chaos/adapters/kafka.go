package adapters

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/postbag/postbag"
	"github.com/postbag/postbag/broker"
	"github.com/postbag/postbag/integration/chaos"
	"github.com/postbag/postbag/internal/testserver"
	"github.com/postbag/postbag/kafkabroker"
)

// Kafka is one of three nodes, with kafkabroker.
type Kafka struct {
	// Once: the relays deliver in transactions.
	Once bool
	// Nodes is 1 or 3. Zero: 3.
	Nodes int
}

const (
	kafkaTopic      = "events"
	kafkaPartitions = 4
	kafkaMaxBytes   = 64 << 10
)

// Name implements chaos.Broker.
func (k Kafka) Name() string {
	if k.Once {
		return "kafkaonce"
	}
	return "kafka"
}

// ExactlyOnce implements chaos.ExactlyOnce.
func (k Kafka) ExactlyOnce() bool { return k.Once }

// kafkaDSN is where the brokers are, and through which wire each is reached.
type kafkaDSN struct {
	Seeds []string          `json:"seeds"`
	Wires map[string]string `json:"wires"`
	Nodes int               `json:"nodes"`
}

// Open implements chaos.Broker.
func (k Kafka) Open(ctx context.Context, text string) (broker.Destination, error) {
	var dsn kafkaDSN
	if err := json.Unmarshal([]byte(text), &dsn); err != nil {
		return nil, err
	}
	dialer := net.Dialer{Timeout: 2 * time.Second}
	o := kafkabroker.Options{
		Create: &kafkabroker.Create{
			Partitions: kafkaPartitions, Replicas: dsn.Nodes,
			Config: map[string]string{
				"message.timestamp.type": "LogAppendTime", "max.message.bytes": strconv.Itoa(kafkaMaxBytes),
				"min.insync.replicas": strconv.Itoa((dsn.Nodes + 1) / 2),
			},
		},
		Login: kafkabroker.Login{Dial: func(ctx context.Context, network, address string) (net.Conn, error) {
			if wire := dsn.Wires[address]; wire != "" {
				address = wire
			}
			return dialer.DialContext(ctx, network, address)
		}},
	}
	if k.Once {
		o.Transactions = &kafkabroker.Transactions{Replicas: dsn.Nodes}
	}
	return kafkabroker.Dial(ctx, strings.Join(dsn.Seeds, ","), o)
}

// Poison implements chaos.Broker: no record of the topic may be that large, however well it is compressed.
func (Kafka) Poison(m *postbag.Message) bool {
	pad := make([]byte, 4*kafkaMaxBytes)
	for i := range pad {
		pad[i] = ' '
	}
	m.Payload = append(m.Payload, pad...)
	return true
}

// kafka is a started cluster.
type kafka struct {
	server *testserver.Kafka
	wires  []*chaos.Wire
	once   bool
	reader *kgo.Client // used by one goroutine; nil: it is to be made anew
	stale  atomic.Bool // the topic is another one
}

// Start implements chaos.Broker.
func (k Kafka) Start(ctx context.Context, _ chaos.Terms) (_ chaos.Place, err error) {
	p := &kafka{once: k.Once}
	defer func() {
		if err != nil {
			err = errors.Join(err, p.Close())
		}
	}()
	nodes := k.Nodes
	if nodes == 0 {
		nodes = 3
	}
	if p.server, err = testserver.StartKafka(ctx, testserver.KafkaOptions{Nodes: nodes}); err != nil {
		return nil, err
	}
	for _, address := range p.server.Brokers() {
		w, err := chaos.NewWire(address)
		if err != nil {
			return nil, err
		}
		p.wires = append(p.wires, w)
	}
	return p, nil
}

// open makes the reader.
func (p *kafka) open() (err error) {
	// In transactions it reads what was committed: that alone is promised to come once.
	level := kgo.ReadUncommitted()
	if p.once {
		level = kgo.ReadCommitted()
	}
	p.reader, err = kgo.NewClient(kgo.SeedBrokers(p.server.Brokers()...), kgo.ConsumeTopics(kafkaTopic), kgo.FetchIsolationLevel(level),
		kgo.ConsumeResetOffset(kgo.NewOffset().AtStart()), kgo.MetadataMinAge(100*time.Millisecond), kgo.MetadataMaxAge(2*time.Second))
	return err
}

// recreate deletes the topic; a relay makes it again, as it has done before.
func (p *kafka) recreate(ctx context.Context) error {
	c, err := kgo.NewClient(kgo.SeedBrokers(p.server.Brokers()...))
	if err != nil {
		return err
	}
	defer c.Close()
	admin := kadm.NewClient(c)
	defer p.stale.Store(true)
	return patiently(ctx, func() error {
		ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
		defer cancel()
		_, err := admin.DeleteTopic(ctx, kafkaTopic)
		if errors.Is(err, kerr.UnknownTopicOrPartition) {
			return nil // an answer was lost
		}
		return err
	})
}

// Version implements chaos.Place.
func (p *kafka) Version() string { return fmt.Sprintf("Kafka of %d nodes", len(p.wires)) }

// DSN implements chaos.Place.
func (p *kafka) DSN() string {
	dsn := kafkaDSN{Seeds: p.server.Brokers(), Wires: map[string]string{}, Nodes: len(p.wires)}
	for i, w := range p.wires {
		dsn.Wires[dsn.Seeds[i]] = w.Addr()
	}
	text, _ := json.Marshal(dsn) //nolint:errchkjson // strings and a number
	return string(text)
}

// Topic implements chaos.Place.
func (*kafka) Topic() string { return kafkaTopic }

// More implements chaos.Place.
func (p *kafka) More(ctx context.Context) (out []chaos.Arrival, err error) {
	if p.stale.Swap(false) && p.reader != nil {
		p.reader.Close()
		p.reader = nil
	}
	if p.reader == nil {
		if err := p.open(); err != nil {
			return nil, err
		}
	}
	ctx, cancel := context.WithTimeout(ctx, 300*time.Millisecond)
	defer cancel()
	fetches := p.reader.PollFetches(ctx)
	fetches.EachError(func(_ string, _ int32, one error) {
		if !errors.Is(one, context.DeadlineExceeded) {
			err = one
		}
	})
	fetches.EachRecord(func(r *kgo.Record) {
		a := chaos.Arrival{
			Key: string(r.Key), Headers: map[string]string{}, Payload: r.Value, Place: strconv.Itoa(int(r.Partition)),
			From: r.Timestamp, To: r.Timestamp.Add(time.Millisecond),
		}
		for _, h := range r.Headers {
			a.Headers[h.Key] = string(h.Value)
		}
		out = append(out, a)
	})
	return out, err
}

// Close implements chaos.Place.
func (p *kafka) Close() (err error) {
	if p.reader != nil {
		p.reader.Close()
	}
	for _, w := range p.wires {
		err = errors.Join(err, w.Close())
	}
	if p.server != nil {
		err = errors.Join(err, p.server.Close())
	}
	return err
}

// Faults implements chaos.Place.
func (p *kafka) Faults() []chaos.Fault {
	all := chaos.Together(chaos.BrokerWire, p.wires...)
	if !p.once {
		all = append(all, wiped("topic deleted and recreated", p.recreate))
	}
	all = append(all,
		atOnce("restart of all nodes", chaos.Brokers, p.server.Restart),
		gone("SIGKILL of all nodes", chaos.Brokers, p.server))
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
