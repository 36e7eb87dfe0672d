package pairs

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/postbag/postbag/internal/testserver"
	"github.com/postbag/postbag/internal/testserver/servertest"
)

// moment is how long a sink waits for more.
const moment = 300 * time.Millisecond

// startKafka starts a broker for a topic of four partitions, which the relay makes. The broker stamps each record with the
// time when it stored it.
func startKafka(t *testing.T) *sink {
	t.Helper()
	k := servertest.Kafka(t, testserver.KafkaOptions{})
	var c *kgo.Client
	t.Cleanup(func() {
		if c != nil {
			c.Close()
		}
	})
	return &sink{
		yaml: fmt.Sprintf("{url: 'kafka://%s', create: {partitions: 4, config: {message.timestamp.type: LogAppendTime}}}", strings.Join(k.Brokers(), ",")),
		kill: k.Kill, back: k.Start,
		more: func() []arrival {
			t.Helper()
			if c == nil {
				var err error
				if c, err = kgo.NewClient(kgo.SeedBrokers(k.Brokers()...), kgo.ConsumeTopics(topic), kgo.ConsumeResetOffset(kgo.NewOffset().AtStart())); err != nil {
					t.Fatal(err)
				}
			}
			return kafkaArrivals(t, c)
		},
	}
}

func kafkaArrivals(t *testing.T, c *kgo.Client) (out []arrival) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), moment)
	defer cancel()
	fetches := c.PollFetches(ctx)
	fetches.EachError(func(_ string, _ int32, err error) {
		if !errors.Is(err, context.DeadlineExceeded) {
			t.Fatal(err)
		}
	})
	fetches.EachRecord(func(r *kgo.Record) {
		out = append(out, arrival{event: parse(t, r.Value), from: r.Timestamp, to: r.Timestamp.Add(time.Millisecond)})
	})
	return out
}
