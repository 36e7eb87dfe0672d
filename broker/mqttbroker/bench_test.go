package mqttbroker_test

import (
	"context"
	"errors"
	"net"
	"sync"
	"testing"

	"github.com/eclipse/paho.golang/paho"

	"github.com/postbag/postbag/broker"
	"github.com/postbag/postbag/broker/mqttbroker"
	"github.com/postbag/postbag/internal/publishtest"
	"github.com/postbag/postbag/internal/testserver"
)

// BenchmarkAgainstRaw publishes the same messages (512 bytes, a key, two headers)
// through the destination and through paho's own client, a hundred callers side by
// side, turn by turn in one run, to a broker without subscribers. It reports
// messages a second of each and their ratio:
//
//	go test -run xxx -bench AgainstRaw -benchtime 5x ./mqttbroker
func BenchmarkAgainstRaw(b *testing.B) {
	const round, size = 10_000, 1000
	s := own(b, func(o *testserver.MosquittoOptions) {
		o.Settings["max_inflight_messages"], o.Settings["log_type"] = "1000", "error"
	})
	publishtest.Race(b, func() []broker.Delivery { return publishtest.Load(publishtest.Messages("orders/made", round)) },
		publishtest.InPieces("raw", raw(b, s), size),
		publishtest.Through("destination", dial(b, s.Addr(), mqttbroker.Options{Unheard: true}), size),
		publishtest.Through("qos2", dial(b, s.Addr(), mqttbroker.Options{QoS: 2, Unheard: true}), size))
}

// raw publishes with paho's client, whose Publish waits for its answer.
func raw(b *testing.B, s *testserver.Mosquitto) func([]broker.Delivery) error {
	b.Helper()
	conn, err := net.Dial("tcp", s.Addr())
	if err != nil {
		b.Fatal(err)
	}
	client := paho.NewClient(paho.ClientConfig{Conn: conn})
	_, err = client.Connect(b.Context(), &paho.Connect{
		ClientID: "raw", KeepAlive: 30, CleanStart: true, Username: "relay", UsernameFlag: true, Password: []byte(password), PasswordFlag: true,
	})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = client.Disconnect(&paho.Disconnect{}) })
	return func(msgs []broker.Delivery) error {
		const callers = 100
		var group sync.WaitGroup
		faults := make([]error, callers)
		for c := range callers {
			group.Go(func() {
				for i := c; i < len(msgs); i += callers {
					if _, err := client.Publish(context.Background(), packet(&msgs[i])); err != nil {
						faults[c] = err
						return
					}
				}
			})
		}
		group.Wait()
		return errors.Join(faults...)
	}
}

func packet(m *broker.Delivery) *paho.Publish {
	p := &paho.Publish{Topic: m.Topic, QoS: 1, Payload: m.Payload, Properties: &paho.PublishProperties{}}
	p.Properties.User.Add(broker.HeaderID, m.ID.String())
	p.Properties.User.Add(broker.HeaderKey, m.Key)
	p.Properties.User.Add(broker.HeaderType, m.Type)
	p.Properties.User.Add(broker.HeaderTime, broker.FormatTime(m.At))
	for name, value := range m.Headers {
		p.Properties.User.Add(name, value)
	}
	return p
}
