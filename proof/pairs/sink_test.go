package pairs

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/postbag/postbag/internal/testserver"
	"github.com/postbag/postbag/internal/testserver/servertest"
	"github.com/postbag/postbag/proof/chaos"
	"github.com/postbag/postbag/proof/chaos/adapters"
	"github.com/postbag/postbag/proof/internal/record"
)

// sink is a broker and the place in it where all messages go, as the fault harness has them.
type sink struct {
	chaos.Place

	yaml string // the destination in a configuration
	env  []string
	kill chaos.Fault // that kills the broker, and starts it again in the end
}

// startKafka starts a broker for a topic of four partitions, which the relay makes. The broker stamps each record with the
// time when it stored it.
func startKafka(t *testing.T) *sink {
	t.Helper()
	s := start(t, adapters.Kafka{Nodes: 1})
	var dsn struct{ Seeds []string }
	if err := json.Unmarshal([]byte(s.DSN()), &dsn); err != nil || len(dsn.Seeds) == 0 {
		t.Fatalf("the broker is not told: %v", err)
	}
	s.yaml = fmt.Sprintf("{kafka: {url: 'kafka://%s', user_env: KAFKA_USER, password_env: KAFKA_PASSWORD, create: {partitions: 4, config: {message.timestamp.type: LogAppendTime}}}}", strings.Join(dsn.Seeds, ","))
	s.env = []string{"KAFKA_USER=" + testserver.KafkaUser, "KAFKA_PASSWORD=" + testserver.KafkaUserPassword}
	return s
}

// startRabbitMQ starts a broker with a quorum queue, into which a clock ticks.
func startRabbitMQ(t *testing.T) *sink {
	t.Helper()
	s := start(t, adapters.RabbitMQ{})
	s.yaml, s.env = "{rabbitmq: {url_env: RABBIT_URL}}", []string{"RABBIT_URL=" + s.DSN()}
	return s
}

func start(t *testing.T, b chaos.Broker) *sink {
	t.Helper()
	place, err := b.Start(t.Context(), chaos.Terms{Dir: t.TempDir()})
	servertest.Need(t, err)
	t.Cleanup(func() { _ = place.Close() })
	if place.Topic() != topic {
		t.Fatalf("the broker's place is for %q", place.Topic())
	}
	s := &sink{Place: place}
	for _, f := range place.Faults() {
		if strings.HasPrefix(f.Name, "SIGKILL of") && s.kill.Begin == nil {
			s.kill = f
		}
	}
	if s.kill.Begin == nil {
		t.Fatal("no fault kills the broker")
	}
	return s
}

// killed kills the broker and starts it again.
func (s *sink) killed(ctx context.Context) error {
	again, err := s.kill.Begin(ctx, &chaos.Strike{})
	if err != nil {
		return err
	}
	return again(ctx)
}

// more returns what has arrived since it was last called, or waits a little for it. The messages of a key stand in their order.
func (s *sink) more(t *testing.T) []record.Arrival {
	t.Helper()
	all, err := s.More(t.Context())
	if err != nil {
		t.Logf("the broker is read again: %v", err)
	}
	out := make([]record.Arrival, len(all))
	for i, a := range all {
		out[i] = record.Arrived(t, a.Payload)
		out[i].From, out[i].To = a.From, a.To
	}
	return out
}
