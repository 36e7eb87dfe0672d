package natsbroker_test

import (
	"slices"
	"testing"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/postbag/postbag/broker"
	"github.com/postbag/postbag/broker/brokertest"
	"github.com/postbag/postbag/broker/natsbroker"
	"github.com/postbag/postbag/internal/publishtest"
	"github.com/postbag/postbag/internal/testserver"
	"github.com/postbag/postbag/internal/testserver/servertest"
)

// An application's own connection, streams looked up by subject.
func TestADestinationOverAGivenConnectionConforms(t *testing.T) {
	t.Parallel()
	brokertest.Run(t, harness(t, startServer(t, nil), broker.Features{Binding: broker.BindingNATS, Fences: "Nats-Msg-Id"}, 1<<20, opener{
		dest: func(t *testing.T, url string, _ place) *natsbroker.Destination {
			return publishtest.Made[*natsbroker.Destination](t)(natsbroker.New(jetStream(t, connect(t, url, nats.UserInfo(user, password))), natsbroker.Options{}))
		},
	}))
}

// A connection of its own, one stream named, whose limit is below the server's.
func TestADialledDestinationConforms(t *testing.T) {
	t.Parallel()
	const limit = 256 << 10
	brokertest.Run(t, harness(t, startServer(t, nil), broker.Features{Binding: broker.BindingNATS, Fences: "Nats-Msg-Id", MaxBytes: limit - 1}, limit, opener{
		named:  true,
		config: func(c *jetstream.StreamConfig) { c.MaxMsgSize = limit },
		dest: func(t *testing.T, url string, p place) *natsbroker.Destination {
			d, err := natsbroker.Dial(t.Context(), url, natsbroker.Options{
				Stream: p.name, Login: natsbroker.Login{User: user, Password: password},
			})
			if err != nil {
				t.Fatal(err)
			}
			_ = d.Probe(t.Context()) // so that its features are known; in an outage or without a stream they are not
			return d
		},
	}))
}

// opener is how one kind of destination is made.
type opener struct {
	named  bool // Options.Stream
	config func(c *jetstream.StreamConfig)
	dest   func(t *testing.T, url string, p place) *natsbroker.Destination
}

// harness runs the suite on shared; what stops its server has one of its own.
func harness(t *testing.T, shared *natsServer, features broker.Features, tooLarge int, o opener) brokertest.Harness {
	t.Helper()
	return brokertest.Harness{
		On: "NATS JetStream " + shared.connect(t).ConnectedServerVersion(),
		Open: func(t *testing.T) brokertest.Fixture {
			p := newPlace(t, shared.connect(t)).create(t, o.config)
			return p.fixture(o.dest(t, shared.url(), p))
		},
		Outage: func(t *testing.T) (brokertest.Fixture, brokertest.Switch) {
			s := startServer(t, nil)
			p := newPlace(t, s.connect(t)).create(t, o.config)
			return p.fixture(o.dest(t, s.url(), p)), brokertest.Switch{Off: s.stop, On: func() { s.start(t) }}
		},
		Mute: func(t *testing.T) (brokertest.Fixture, brokertest.Switch) {
			p := newPlace(t, shared.connect(t)).create(t, o.config)
			line := servertest.Proxy(t, shared.address())
			return p.fixture(o.dest(t, "nats://"+line.Addr(), p)), brokertest.Switch{
				Off: func() { line.BlackHole(testserver.Down) },
				On: func() {
					line.Cut()
					if err := line.Resume(); err != nil {
						t.Fatal(err)
					}
				},
			}
		},
		MisconfiguredScope: broker.ScopeTopic,
		Misconfigured: func(t *testing.T) (brokertest.Fixture, brokertest.Switch) {
			p := newPlace(t, shared.connect(t))
			f := p.fixture(o.dest(t, shared.url(), p))
			made := false
			f.Stored = func(t *testing.T) []brokertest.Received {
				if !made {
					return nil // there is nothing to hold anything
				}
				return p.stored(t)
			}
			return f, brokertest.Switch{On: func() {
				p.create(t, o.config)
				made = true
			}}
		},
		Topics: func(t *testing.T) (brokertest.Fixture, string, brokertest.Switch) {
			p, other := newPlace(t, shared.connect(t)).create(t, o.config), newPlace(t, shared.connect(t))
			f := p.fixture(o.dest(t, shared.url(), p))
			f.Stored = func(t *testing.T) []brokertest.Received {
				return slices.DeleteFunc(p.stored(t), func(r brokertest.Received) bool { return r.Topic != p.topic() })
			}
			return f, other.topic(), brokertest.Switch{On: func() {
				if !o.named {
					other.create(t, o.config)
					return
				}
				config := p.stream(t).CachedInfo().Config
				config.Subjects = append(config.Subjects, other.topic())
				if _, err := p.js.UpdateStream(t.Context(), config); err != nil {
					t.Fatal(err)
				}
			}}
		},
		TooLarge: tooLarge,
		Features: features,
		Reserved: []string{
			"Nats-Msg-Id", "Nats-Expected-Stream", "Nats-Expected-Last-Sequence", "Nats-Expected-Last-Msg-Id",
			"Nats-Expected-Last-Subject-Sequence", "Nats-Rollup", "Nats-TTL", "Nats-Schedule", "Nats-Incr", "Nats-Batch-Id",
			"Nats-Stream-Source", "Nats-Trace-Dest", "nats-rollup", "Status", "Description",
		},
		Secrets: []string{password},
	}
}
