package matrix

import (
	"context"
	"errors"
	"net/url"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/eclipse/paho.golang/autopaho"
	"github.com/eclipse/paho.golang/paho"

	"github.com/postbag/postbag/broker"
	"github.com/postbag/postbag/broker/mqttbroker"
	"github.com/postbag/postbag/internal/testserver"
	"github.com/postbag/postbag/internal/testserver/servertest"
)

func startMQTT(t *testing.T) *server {
	t.Helper()
	s := servertest.Mosquitto(t, testserver.MosquittoOptions{})
	return &server{
		place:   func(t *testing.T) *place { return mqttPlace(t, "mqtt://"+s.Addr()) },
		restart: func(ctx context.Context) error { return errors.Join(s.Stop(ctx), s.Start(ctx)) },
	}
}

// mqttPlace is a topic with a subscriber, whose session outlives the broker's restarts: MQTT keeps nothing for who comes
// later.
func mqttPlace(t *testing.T, address string) *place {
	t.Helper()
	s := &subscriber{topic: newName()}
	s.follow(t, address)
	return &place{
		topic: s.topic,
		yaml:  "{mqtt: {url: '" + address + "'}}",
		open: func(t *testing.T) broker.Destination {
			t.Helper()
			d, err := mqttbroker.Dial(t.Context(), address, mqttbroker.Options{})
			if err != nil {
				t.Fatal(err)
			}
			return d
		},
		stored: func(*testing.T) [][]byte {
			s.mu.Lock()
			defer s.mu.Unlock()
			return slices.Clone(s.taken)
		},
	}
}

// subscriber takes what comes by a topic.
type subscriber struct {
	topic string

	mu    sync.Mutex
	taken [][]byte
}

// follow subscribes. It is no clean start, for Mosquitto 2.0.11 saves no session that began with one.
func (s *subscriber) follow(t *testing.T, address string) {
	t.Helper()
	where, err := url.Parse(address)
	if err != nil {
		t.Fatal(err)
	}
	subscribed := make(chan struct{}, 16)
	ctx, cancel := context.WithCancel(context.WithoutCancel(t.Context()))
	c, err := autopaho.NewConnection(ctx, autopaho.ClientConfig{
		ServerUrls: []*url.URL{where}, KeepAlive: 10, SessionExpiryInterval: 600,
		ReconnectBackoff: autopaho.NewConstantBackoff(500 * time.Millisecond), // later than the relay: what comes meanwhile is kept
		OnConnectionUp: func(c *autopaho.ConnectionManager, _ *paho.Connack) {
			if _, err := c.Subscribe(ctx, &paho.Subscribe{Subscriptions: []paho.SubscribeOptions{{Topic: s.topic, QoS: 1}}}); err == nil {
				subscribed <- struct{}{}
			}
		},
		ClientConfig: paho.ClientConfig{
			ClientID: "reader-" + s.topic,
			OnPublishReceived: []func(paho.PublishReceived) (bool, error){func(r paho.PublishReceived) (bool, error) {
				s.mu.Lock()
				defer s.mu.Unlock()
				s.taken = append(s.taken, r.Packet.Payload)
				return true, nil
			}},
		},
	})
	if err != nil {
		cancel()
		t.Fatal(err)
	}
	t.Cleanup(func() {
		cancel()
		<-c.Done()
	})
	select {
	case <-subscribed:
	case <-time.After(30 * time.Second):
		t.Fatal("the reader could not subscribe")
	}
}
