package matrix

import (
	"context"
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"github.com/postbag/postbag/broker"
	"github.com/postbag/postbag/broker/membroker"
)

func brokers() []sink {
	return []sink{
		{name: "Kafka", start: startKafka},
		{name: "NATS", start: startNATS},
		{name: "RabbitMQ", start: startRabbitMQ},
		{name: "Redis", start: startRedis},
		{name: "MQTT", start: startMQTT},
		{name: "webhook", start: startWebhook},
		{name: "Watermill", start: startWatermill},
		{name: "memory", start: startMemory},
	}
}

var places atomic.Int64

// newName is a name that no other pair has.
func newName() string { return fmt.Sprintf("pair%d", places.Add(1)) }

// shortly is how long a broker is away that has no process of its own.
const shortly = 300 * time.Millisecond

// startMemory has a broker in this process for each pair. It restarts by being away.
func startMemory(*testing.T) *server {
	var last *membroker.Destination
	return &server{
		place: func(*testing.T) *place {
			d := membroker.New(membroker.Options{})
			last = d
			return &place{
				topic: "events", open: func(*testing.T) broker.Destination { return d },
				stored: func(t *testing.T) (out [][]byte) {
					t.Helper()
					for _, m := range d.Taken() {
						out = append(out, m.Payload)
					}
					return out
				},
			}
		},
		restart: func(context.Context) error {
			last.SetDown(true)
			<-time.After(shortly)
			last.SetDown(false)
			return nil
		},
	}
}
