package adapters

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/postbag/postbag"
	"github.com/postbag/postbag/broker"
	"github.com/postbag/postbag/broker/kafkabroker"
	"github.com/postbag/postbag/internal/testserver"
	"github.com/postbag/postbag/proof/chaos"
	"github.com/postbag/postbag/source"
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
	kafkaBranch     = "branch"
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

// kafkaLogin takes a DSN apart, and says how its brokers are reached.
func kafkaLogin(text string) (dsn kafkaDSN, _ kafkabroker.Login, err error) {
	if err := json.Unmarshal([]byte(text), &dsn); err != nil {
		return dsn, kafkabroker.Login{}, err
	}
	dialer := net.Dialer{Timeout: 2 * time.Second}
	return dsn, kafkabroker.Login{User: testserver.KafkaUser, Password: testserver.KafkaUserPassword, Dial: func(ctx context.Context, network, address string) (net.Conn, error) {
		if wire := dsn.Wires[address]; wire != "" {
			address = wire
		}
		return dialer.DialContext(ctx, network, address)
	}}, nil
}

// Open implements chaos.Broker.
func (k Kafka) Open(ctx context.Context, text string) (broker.Destination, error) {
	dsn, login, err := kafkaLogin(text)
	if err != nil {
		return nil, err
	}
	o := kafkabroker.Options{
		Create: &kafkabroker.Create{
			Partitions: kafkaPartitions, Replicas: dsn.Nodes,
			Config: map[string]string{
				"message.timestamp.type": "LogAppendTime", "max.message.bytes": strconv.Itoa(kafkaMaxBytes),
				"min.insync.replicas": strconv.Itoa((dsn.Nodes + 1) / 2),
			},
		},
		Login: login,
	}
	if k.Once {
		o.Transactions = &kafkabroker.Transactions{Replicas: dsn.Nodes}
	}
	return kafkabroker.Dial(ctx, strings.Join(dsn.Seeds, ","), o)
}

// CanTake implements chaos.Taker.
func (k Kafka) CanTake() bool { return !k.Once }

// Take implements chaos.Taker.
func (Kafka) Take(ctx context.Context, text string) (source.Source, error) {
	dsn, login, err := kafkaLogin(text)
	if err != nil {
		return nil, err
	}
	return kafkabroker.OpenSource(ctx, kafkabroker.SourceOptions{
		Brokers: strings.Join(dsn.Seeds, ","), Login: login, Group: chaos.ConsumerName, Topics: []string{kafkaTopic},
		SessionTimeout: chaos.SessionTimeout, RebalanceTimeout: 10 * time.Second, Refresh: 2 * time.Second,
	})
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
	disk   *testserver.Tmpfs // under the first node
	wires  []*chaos.Wire
	once   bool
	reader *kgo.Client     // used by one goroutine; nil: it is to be made again
	stale  atomic.Bool     // both topics are others: all is read from the beginning
	gone   atomic.Bool     // the first topic is another one; the second is read on
	read   map[int32]int64 // by partition, up to where the second topic was read
}

// Start implements chaos.Broker.
func (k Kafka) Start(ctx context.Context, t chaos.Terms) (_ chaos.Place, err error) {
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
	o := testserver.KafkaOptions{Nodes: nodes, Secure: true, StartTimeout: 5 * time.Minute}
	if p.disk, err = smallDisk(ctx, t); err != nil {
		return nil, err
	}
	if p.disk != nil {
		o.LogDirs = []string{filepath.Join(p.disk.Dir(), "data")}
	}
	if p.server, err = testserver.StartKafka(ctx, o); err != nil {
		return nil, err
	}
	if err := errors.Join(p.grant(ctx), p.warm(ctx, nodes)); err != nil {
		return nil, err
	}
	for _, address := range p.server.SASLPlaintext() {
		w, err := chaos.NewWire(address)
		if err != nil {
			return nil, err
		}
		p.wires = append(p.wires, w)
	}
	return p, nil
}

// open makes the reader. What was read of the second topic is not read again, unless that is another one too.
func (p *kafka) open() (err error) {
	// In transactions it reads what was committed: that alone is promised to come once.
	level := kgo.ReadUncommitted()
	if p.once {
		level = kgo.ReadCommitted()
	}
	o := []kgo.Opt{
		kgo.SeedBrokers(p.server.Brokers()...), kgo.FetchIsolationLevel(level), kgo.ConsumeResetOffset(kgo.NewOffset().AtStart()),
		kgo.MetadataMinAge(100 * time.Millisecond), kgo.MetadataMaxAge(2 * time.Second),
	}
	if len(p.read) == 0 {
		o = append(o, kgo.ConsumeTopics(kafkaTopic, kafkaBranch))
	} else {
		on := make(map[int32]kgo.Offset)
		for partition := range int32(kafkaPartitions) {
			on[partition] = kgo.NewOffset().At(p.read[partition])
		}
		o = append(o, kgo.ConsumeTopics(kafkaTopic), kgo.ConsumePartitions(map[string]map[int32]kgo.Offset{kafkaBranch: on}))
	}
	p.reader, err = kgo.NewClient(o...)
	return err
}

// Version implements chaos.Place.
func (p *kafka) Version() string { return fmt.Sprintf("Kafka of %d nodes", len(p.wires)) }

// DSN implements chaos.Place.
func (p *kafka) DSN() string {
	dsn := kafkaDSN{Seeds: p.server.SASLPlaintext(), Wires: map[string]string{}, Nodes: len(p.wires)}
	for i, w := range p.wires {
		dsn.Wires[dsn.Seeds[i]] = w.Addr()
	}
	text, _ := json.Marshal(dsn) //nolint:errchkjson // strings and a number
	return string(text)
}

// Topic implements chaos.Place.
func (*kafka) Topic() string { return kafkaTopic }

// Branch implements chaos.Branched.
func (*kafka) Branch() string { return kafkaBranch }

// More implements chaos.Place.
func (p *kafka) More(ctx context.Context) (out []chaos.Arrival, err error) {
	stale := p.stale.Swap(false)
	if stale || p.read == nil {
		p.read = make(map[int32]int64)
	}
	if (p.gone.Swap(false) || stale) && p.reader != nil {
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
		if r.Topic == kafkaBranch {
			p.read[r.Partition] = r.Offset + 1
		}
		a := chaos.Arrival{
			Key: string(r.Key), Headers: map[string]string{}, Payload: r.Value, Place: r.Topic + "/" + strconv.Itoa(int(r.Partition)),
			From: r.Timestamp, To: r.Timestamp.Add(time.Millisecond),
		}
		for _, h := range r.Headers {
			a.Headers[h.Key] = string(h.Value)
		}
		out = append(out, a)
	})
	return out, err
}

// Reread implements chaos.Rereadable.
func (p *kafka) Reread() { p.stale.Store(true) }

// Close implements chaos.Place.
func (p *kafka) Close() (err error) {
	if p.reader != nil {
		p.reader.Close()
	}
	for _, w := range p.wires {
		err = errors.Join(err, w.Close())
	}
	return errors.Join(err, closed(p.server), closed(p.disk))
}
