package matrix

import (
	"testing"

	watermillnats "github.com/ThreeDotsLabs/watermill-nats/v2/pkg/jetstream"
	"github.com/nats-io/nats.go"

	"github.com/postbag/postbag/broker"
	"github.com/postbag/postbag/broker/watermillbroker"
	"github.com/postbag/postbag/internal/testserver"
	"github.com/postbag/postbag/internal/testserver/servertest"
)

// startWatermill has Watermill's publisher for JetStream, with a server of its own. Publishers are Go: the relays are in this
// process.
func startWatermill(t *testing.T) *server {
	t.Helper()
	s := servertest.NATS(t, testserver.NATSOptions{})
	return &server{
		place: func(t *testing.T) *place {
			t.Helper()
			p := natsPlace(t, s)
			p.yaml = ""
			p.open = func(t *testing.T) broker.Destination {
				t.Helper()
				nc, err := nats.Connect(s.URL(), nats.MaxReconnects(-1))
				if err != nil {
					t.Fatal(err)
				}
				t.Cleanup(nc.Close)
				publisher, err := watermillnats.NewPublisher(watermillnats.PublisherConfig{Conn: nc})
				if err != nil {
					t.Fatal(err)
				}
				d, err := watermillbroker.New(publisher, watermillbroker.Options{})
				if err != nil {
					t.Fatal(err)
				}
				return d
			}
			return p
		},
		restart: s.Restart,
	}
}
