package rabbitbroker_test

import (
	"errors"
	"testing"

	"github.com/postbag/postbag/broker"
	"github.com/postbag/postbag/broker/brokertest"
	"github.com/postbag/postbag/broker/rabbitbroker"
	"github.com/postbag/postbag/internal/testserver"
	"github.com/postbag/postbag/internal/testserver/servertest"
)

// The default exchange, a limit that only the server knows, many channels.
func TestADestinationConformsOnClassicQueues(t *testing.T) {
	t.Parallel()
	brokertest.Run(t, harness(t, broker.Features{Binding: broker.BindingAMQP}, opener{
		kind: "classic", change: func(o *rabbitbroker.Options) { o.Channels = 5 },
	}))
}

// An exchange, the limit known.
func TestADestinationConformsOnQuorumQueues(t *testing.T) {
	t.Parallel()
	brokertest.Run(t, harness(t, broker.Features{Binding: broker.BindingAMQP, MaxBytes: maxMessage}, opener{
		kind: "quorum", exchange: true, change: func(o *rabbitbroker.Options) { o.MaxBytes = maxMessage },
	}))
}

// One channel, few messages in flight.
func TestADestinationConformsOnStreams(t *testing.T) {
	t.Parallel()
	brokertest.Run(t, harness(t, broker.Features{Binding: broker.BindingAMQP}, opener{
		kind: "stream", exchange: true, change: func(o *rabbitbroker.Options) { o.Channels, o.MaxPending = 1, 7 },
	}))
}

// opener is how one kind of destination is made.
type opener struct {
	kind     string
	exchange bool
	change   func(o *rabbitbroker.Options)
}

func (o opener) dial(t *testing.T, url string, p *place) *rabbitbroker.Destination {
	t.Helper()
	options := p.options()
	o.change(&options)
	return dial(t, url, options)
}

// harness runs the suite on the shared server. An outage is one of the network
// here; outage_test.go stops servers.
func harness(t *testing.T, features broker.Features, o opener) brokertest.Harness {
	t.Helper()
	node := shared(t)
	throughProxy := func(t *testing.T) (brokertest.Fixture, *testserver.Proxy) {
		p := newPlace(t, node, o.kind, o.exchange).create(t, nil)
		line := servertest.Proxy(t, address(t, p.url))
		return p.fixture(o.dial(t, via(t, p.url, line.Addr()), p)), line
	}
	return brokertest.Harness{
		On: "RabbitMQ, " + o.kind + " queue",
		Open: func(t *testing.T) brokertest.Fixture {
			p := newPlace(t, node, o.kind, o.exchange).create(t, nil)
			return p.fixture(o.dial(t, p.url, p))
		},
		Outage: func(t *testing.T) (brokertest.Fixture, brokertest.Switch) {
			f, line := throughProxy(t)
			return f, brokertest.Switch{
				Off: func() {
					if err := line.Refuse(); err != nil {
						t.Error(err)
					}
					line.Cut()
				},
				On: func() {
					if err := line.Resume(); err != nil {
						t.Error(err)
					}
				},
			}
		},
		Mute: func(t *testing.T) (brokertest.Fixture, brokertest.Switch) {
			f, line := throughProxy(t)
			return f, brokertest.Switch{
				Off: func() { line.BlackHole(testserver.Down) },
				On: func() {
					line.Cut()
					if err := line.Resume(); err != nil {
						t.Error(err)
					}
				},
			}
		},
		MisconfiguredScope: broker.ScopeTopic,
		Misconfigured: func(t *testing.T) (brokertest.Fixture, brokertest.Switch) {
			p := newPlace(t, node, o.kind, o.exchange)
			f := p.fixture(o.dial(t, p.url, p))
			made := false
			f.Stored = func(t *testing.T) []brokertest.Received {
				if !made {
					return nil // there is nothing to hold anything
				}
				return p.stored(t)
			}
			return f, brokertest.Switch{On: func() {
				p.create(t, nil)
				made = true
			}}
		},
		Topics: func(t *testing.T) (brokertest.Fixture, string, brokertest.Switch) {
			p, other := newPlace(t, node, o.kind, o.exchange).create(t, nil), newPlace(t, node, o.kind, false)
			if p.exchange != "" { // the queue takes its own messages only
				ch := channel(t, p.url)
				if err := errors.Join(ch.QueueBind(p.queue, p.queue, p.exchange, false, nil), ch.QueueUnbind(p.queue, "#", p.exchange, nil)); err != nil {
					t.Fatal(err)
				}
			}
			return p.fixture(o.dial(t, p.url, p)), other.queue, brokertest.Switch{On: func() {
				other.create(t, nil)
				if p.exchange == "" {
					return
				}
				if err := channel(t, p.url).QueueBind(other.queue, other.queue, p.exchange, false, nil); err != nil {
					t.Fatal(err)
				}
			}}
		},
		TooLarge: maxMessage + 1,
		Features: features,
		Reserved: []string{
			"CC", "BCC", "cc", "x-death", "x-first-death-queue", "x-received-from", "x-shovelled", "x-delivery-count", "x-stream-offset",
			"x-delay", "x-match", "x-message-ttl", "expiration", "priority", "user_id", "Content-Type", "content-type", "%43C", "%", "%4", "Postbag-Id", "Postbag-Other",
		},
		Secrets: []string{password},
	}
}
