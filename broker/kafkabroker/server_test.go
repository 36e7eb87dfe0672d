package kafkabroker_test

import (
	"context"
	"fmt"
	"net"
	"os"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/postbag/postbag/broker/brokertest"
	"github.com/postbag/postbag/broker/kafkabroker"
	"github.com/postbag/postbag/internal/publishtest"
	"github.com/postbag/postbag/internal/testserver"
	"github.com/postbag/postbag/internal/testserver/servertest"
)

func TestMain(m *testing.M) {
	code := m.Run()
	for _, s := range []*sharedKafka{&plainKafka, &frailKafkas[0], &frailKafkas[1], &secureKafka} {
		if s.kafka != nil {
			if err := s.kafka.Close(); err != nil {
				fmt.Fprintln(os.Stderr, "a shared Kafka was not closed:", err)
				code = max(code, 1)
			}
		}
	}
	os.Exit(code)
}

// shortSessions lets members of groups die soon.
var shortSessions = testserver.KafkaOptions{Properties: map[string]string{"group.min.session.timeout.ms": "500"}}

// sharedKafka is a server for several tests, started by the first.
type sharedKafka struct {
	options testserver.KafkaOptions

	once  sync.Once
	kafka *testserver.Kafka
	err   error
	turn  sync.Mutex // of tests that stop it
}

var (
	plainKafka  = sharedKafka{options: shortSessions}                                // nobody stops it
	frailKafkas = [2]sharedKafka{{options: shortSessions}, {options: shortSessions}} // stopped by those who have their turn
	frailTurns  atomic.Int64
	secureKafka = sharedKafka{options: testserver.KafkaOptions{Secure: true}}
)

func (s *sharedKafka) get(t testing.TB) *testserver.Kafka {
	t.Helper()
	s.once.Do(func() { s.kafka, s.err = testserver.StartKafka(context.Background(), s.options) })
	servertest.Need(t, s.err)
	return s.kafka
}

// frailKafka gives a test a server for itself, until its end.
func frailKafka(t testing.TB) *testserver.Kafka {
	t.Helper()
	s := &frailKafkas[frailTurns.Add(1)%2]
	s.turn.Lock()
	t.Cleanup(s.turn.Unlock)
	return s.get(t)
}

// topicCount numbers topics, so that no two tests share one.
var topicCount atomic.Int64

// place is a topic of one test's own.
type place struct {
	brokers    []string
	admin      *kadm.Client
	topic      string
	partitions int32
	replicas   int16
}

func newPlace(t testing.TB, brokers []string) place {
	t.Helper()
	client, err := kgo.NewClient(kgo.SeedBrokers(brokers...), kgo.DisableClientMetrics(), kgo.MetadataMinAge(20*time.Millisecond))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(client.Close)
	return place{
		brokers: brokers, admin: kadm.NewClient(client), topic: fmt.Sprintf("made.%d", topicCount.Add(1)),
		partitions: 2, replicas: 1,
	}
}

// create makes the topic, with settings such as "max.message.bytes=1000", and waits
// until it has leaders. Messages of the tests are old: it keeps all.
func (p place) create(t testing.TB, settings ...string) place {
	t.Helper()
	configs := map[string]*string{"retention.ms": new("-1")}
	for _, setting := range settings {
		name, value, _ := strings.Cut(setting, "=")
		configs[name] = new(value)
	}
	var last error
	publishtest.Eventually(t, "the topic is made", func() bool {
		_, last = p.admin.CreateTopic(publishtest.Timeout(t, 10*time.Second), p.partitions, p.replicas, configs, p.topic)
		return last == nil || strings.Contains(last.Error(), kerr.TopicAlreadyExists.Message)
	})
	p.led(t)
	return p
}

// led waits until all partitions have a leader.
func (p place) led(t testing.TB) {
	t.Helper()
	publishtest.Eventually(t, "the topic has leaders", func() bool {
		topics, err := p.admin.ListTopics(publishtest.Timeout(t, 10*time.Second), p.topic)
		if err != nil || topics[p.topic].Err != nil || len(topics[p.topic].Partitions) != int(p.partitions) {
			return false
		}
		for _, partition := range topics[p.topic].Partitions {
			if partition.Err != nil || partition.Leader < 0 {
				return false
			}
		}
		return true
	})
}

func (p place) delete(t testing.TB) {
	t.Helper()
	if _, err := p.admin.DeleteTopic(publishtest.Timeout(t, 30*time.Second), p.topic); err != nil {
		t.Fatal(err)
	}
	publishtest.Eventually(t, "the topic is gone", func() bool {
		topics, err := p.admin.ListTopics(publishtest.Timeout(t, 10*time.Second), p.topic)
		return err == nil && topics[p.topic].Err != nil
	})
}

// set changes a setting of the topic, and waits until a broker goes by it: it is told
// by the controller.
func (p place) set(t testing.TB, name, value string) {
	t.Helper()
	answers, err := p.admin.AlterTopicConfigs(publishtest.Timeout(t, 30*time.Second),
		[]kadm.AlterConfig{{Op: kadm.SetConfig, Name: name, Value: &value}}, p.topic)
	if err != nil || answers[0].Err != nil {
		t.Fatal(err, answers)
	}
	publishtest.Eventually(t, "the setting is known", func() bool {
		configs, err := p.admin.DescribeTopicConfigs(publishtest.Timeout(t, 10*time.Second), p.topic)
		return err == nil && len(configs) == 1 && slices.ContainsFunc(configs[0].Configs, func(c kadm.Config) bool {
			return c.Key == name && c.MaybeValue() == value
		})
	})
}

// ends are the offsets after the last records.
func (p place) ends(t testing.TB) map[int32]int64 {
	t.Helper()
	ends := map[int32]int64{}
	publishtest.Eventually(t, "the topic's offsets can be read", func() bool {
		listed, err := p.admin.ListEndOffsets(publishtest.Timeout(t, 10*time.Second), p.topic)
		if err != nil || listed.Error() != nil {
			return false
		}
		listed.Each(func(o kadm.ListedOffset) { ends[o.Partition] = o.Offset })
		return true
	})
	return ends
}

// read returns what the topic holds, partition by partition.
func (p place) read(t testing.TB, options ...kgo.Opt) []*kgo.Record {
	t.Helper()
	return p.readTo(t, p.ends(t), options...)
}

func (p place) readTo(t testing.TB, ends map[int32]int64, options ...kgo.Opt) []*kgo.Record {
	t.Helper()
	at := map[int32]kgo.Offset{}
	for partition, end := range ends {
		if end > 0 {
			at[partition] = kgo.NewOffset().AtStart()
		}
	}
	if len(at) == 0 {
		return nil
	}
	client, err := kgo.NewClient(append([]kgo.Opt{
		kgo.SeedBrokers(p.brokers...), kgo.DisableClientMetrics(), kgo.KeepControlRecords(), kgo.FetchMaxWait(100 * time.Millisecond),
		kgo.ConsumePartitions(map[string]map[int32]kgo.Offset{p.topic: at}),
	}, options...)...)
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	ctx := publishtest.Timeout(t, 2*time.Minute)
	held := map[int32][]*kgo.Record{}
	for len(at) > 0 {
		fetched := client.PollFetches(ctx)
		if ctx.Err() != nil {
			t.Fatalf("topic %s cannot be read to its end: %v left, read %v", p.topic, at, fetched.Errors())
		}
		fetched.EachRecord(func(r *kgo.Record) {
			if !r.Attrs.IsControl() && r.Offset < ends[r.Partition] {
				held[r.Partition] = append(held[r.Partition], r)
			}
			if r.Offset >= ends[r.Partition]-1 {
				delete(at, r.Partition)
			}
		})
	}
	var all []*kgo.Record
	for partition := range int32(len(ends)) {
		all = append(all, held[partition]...)
	}
	return all
}

// stored is read for the suite: decoded by the suite's own rules, not by Message.
func (p place) stored(t *testing.T) []brokertest.Received { return received(t, p.read(t)) }

func received(t testing.TB, records []*kgo.Record) []brokertest.Received {
	t.Helper()
	var held []brokertest.Received
	for _, record := range records {
		facts, own := map[string]string{}, map[string]string{}
		for _, h := range record.Headers {
			name, value := h.Key, string(h.Value)
			switch {
			case strings.HasPrefix(name, "Postbag-") && name != "Postbag-Replay":
				facts[name] = value
			case strings.HasPrefix(name, "%50"):
				own["P"+name[3:]] = value
			case strings.HasPrefix(name, "%25"):
				own["%"+name[3:]] = value
			default:
				own[name] = value
			}
		}
		r, err := brokertest.FromHeaders(record.Topic, facts, record.Value)
		if err != nil {
			t.Fatal(err)
		}
		if string(record.Key) != r.Key {
			t.Errorf("a record's key is not that of its header")
		}
		r.Headers = own
		held = append(held, r)
	}
	return held
}

func (p place) wired(t *testing.T) []brokertest.Wired {
	t.Helper()
	var held []brokertest.Wired
	for _, record := range p.read(t) {
		w := brokertest.Wired{Headers: map[string]string{}, Payload: record.Value, Null: record.Value == nil}
		for _, h := range record.Headers {
			if h.Key == "content-type" {
				w.ContentType = string(h.Value)
			}
			w.Headers[h.Key] = string(h.Value)
		}
		held = append(held, w)
	}
	return held
}

func (p place) fixture(d *kafkabroker.Destination) brokertest.Fixture {
	return brokertest.Fixture{Destination: d, Topic: p.topic, Stored: p.stored, Wired: p.wired}
}

// dial makes a destination to brokers, which may be slow to answer on a busy machine.
func dial(t testing.TB, brokers []string, o kafkabroker.Options) *kafkabroker.Destination {
	t.Helper()
	if o.Login.Dial == nil {
		o.Login.Dial = (&net.Dialer{Timeout: 20 * time.Second}).DialContext
	}
	d, err := kafkabroker.Dial(t.Context(), strings.Join(brokers, ","), o)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// through makes connections to brokers by way of a proxy before each.
type through map[string]*testserver.Proxy

func newThrough(t testing.TB, brokers []string) through {
	t.Helper()
	lines := through{}
	for _, address := range brokers {
		lines[address] = servertest.Proxy(t, address)
	}
	return lines
}

func (l through) dial(ctx context.Context, network, address string) (net.Conn, error) {
	return (&net.Dialer{Timeout: 20 * time.Second}).DialContext(ctx, network, l[address].Addr())
}

// mute loses all answers until unmute, which cuts the connections that it lost them on.
func (l through) mute() {
	for _, line := range l {
		line.BlackHole(testserver.Down)
	}
}

func (l through) unmute(t testing.TB) {
	t.Helper()
	for _, line := range l {
		line.Cut()
		if err := line.Resume(); err != nil {
			t.Fatal(err)
		}
	}
}
