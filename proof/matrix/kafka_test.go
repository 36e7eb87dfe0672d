package matrix

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/postbag/postbag/broker"
	"github.com/postbag/postbag/broker/kafkabroker"
	"github.com/postbag/postbag/internal/testserver"
	"github.com/postbag/postbag/internal/testserver/servertest"
)

func startKafka(t *testing.T) *server {
	t.Helper()
	s := servertest.Kafka(t, testserver.KafkaOptions{})
	return &server{
		place:   func(t *testing.T) *place { return kafkaPlace(t, s) },
		restart: s.Restart,
	}
}

// kafkaPlace is a topic of four partitions, which the relay makes.
func kafkaPlace(t *testing.T, s *testserver.Kafka) *place {
	t.Helper()
	name, brokers := newName(), strings.Join(s.Brokers(), ",")
	return &place{
		topic: name,
		yaml:  fmt.Sprintf("{kafka: {url: 'kafka://%s', create: {partitions: 4}}}", brokers),
		open: func(t *testing.T) broker.Destination {
			t.Helper()
			d, err := kafkabroker.Dial(t.Context(), brokers, kafkabroker.Options{Create: &kafkabroker.Create{Partitions: 4}})
			if err != nil {
				t.Fatal(err)
			}
			return d
		},
		stored: func(t *testing.T) [][]byte {
			t.Helper()
			return kafkaPayloads(t, s.Brokers(), name)
		},
	}
}

// kafkaPayloads reads a topic up to its present end.
func kafkaPayloads(t *testing.T, brokers []string, topic string) (out [][]byte) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	c, err := kgo.NewClient(kgo.SeedBrokers(brokers...), kgo.ConsumeTopics(topic), kgo.MetadataMinAge(50*time.Millisecond),
		kgo.ConsumeResetOffset(kgo.NewOffset().AtStart()))
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	ends, err := kadm.NewClient(c).ListEndOffsets(ctx, topic)
	if err != nil {
		t.Fatal(err)
	}
	count := int64(0)
	ends.Each(func(o kadm.ListedOffset) { count += o.Offset })
	for int64(len(out)) < count {
		fetches := c.PollFetches(ctx)
		if err := fetches.Err0(); err != nil {
			t.Fatal(err)
		}
		fetches.EachRecord(func(r *kgo.Record) { out = append(out, r.Value) })
	}
	return out
}
