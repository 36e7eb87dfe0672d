package natsbroker_test

import (
	"context"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/postbag/postbag/broker"
	"github.com/postbag/postbag/broker/natsbroker"
	"github.com/postbag/postbag/internal/publishtest"
	"github.com/postbag/postbag/source"
	"github.com/postbag/postbag/source/sourcetest"
)

// suiteWait is the ack wait of the suite's sources. It is long enough for a case that acks nothing on a busy machine, and
// short enough for those that let it run out.
const suiteWait = 10 * time.Second

func TestASourceWithoutAnOrderConforms(t *testing.T) {
	t.Parallel()
	sourcetest.Run(t, sourceHarness(t, startServer(t, nil), source.Features{
		Order: source.OrderNone, Places: true, Counts: true, AckWait: suiteWait, MaxUnacked: 700, Binding: broker.BindingNATS,
	}))
}

func TestASourceWithAnOrderConforms(t *testing.T) {
	t.Parallel()
	sourcetest.Run(t, sourceHarness(t, startServer(t, nil), source.Features{
		Order: source.OrderStream, Places: true, Cumulative: true, AckWait: suiteWait, MaxUnacked: 700, Binding: broker.BindingNATS,
	}))
}

// sourceHarness runs the suite on shared; what stops its server has one of its own.
func sourceHarness(t *testing.T, shared *natsServer, features source.Features) sourcetest.Harness {
	t.Helper()
	h := sourcetest.Harness{
		On: "NATS JetStream " + shared.connect(t).ConnectedServerVersion() + ", order " + features.Order.String(),
		Open: func(t *testing.T) sourcetest.Fixture {
			return sourceFixture(t, shared, features)
		},
		Outage: func(t *testing.T) (sourcetest.Fixture, sourcetest.Switch) {
			s := startServer(t, nil)
			return sourceFixture(t, s, features), sourcetest.Switch{Off: s.stop, On: func() { s.start(t) }}
		},
		Lacks: map[sourcetest.Part]string{
			sourcetest.PartUndecodable: "a message of JetStream is a subject, headers and bytes: nothing is encoded",
		},
		Features: features,
		NoKeys:   true,
		Secrets:  []string{password},
		Quiet:    500 * time.Millisecond,
		Patience: time.Minute,
	}
	if features.Order == source.OrderNone {
		h.Lacks[sourcetest.PartRebalance] = "members share messages, not partitions"
	}
	return h
}

func sourceFixture(t *testing.T, s *natsServer, features source.Features) sourcetest.Fixture {
	t.Helper()
	nc := s.connect(t)
	p := newPlace(t, nc).create(t, nil)
	options := natsbroker.SourceOptions{
		Stream: p.name, Consumer: "readers", Order: features.Order, AckWait: features.AckWait, MaxUnacked: features.MaxUnacked,
	}
	connections := map[source.Source]*nats.Conn{}
	f := sourcetest.Fixture{
		Join: func(t *testing.T) source.Source {
			own := s.connect(t)
			o := options
			o.JetStream = jetStream(t, own)
			src := opened(t, o)
			connections[src] = own
			return src
		},
		Send: func(t *testing.T, msgs ...source.Message) {
			for _, m := range msgs {
				sendTo(t, p, m)
			}
		},
		Kill: func(_ *testing.T, src source.Source) {
			connections[src].Close()
		},
	}
	if features.Order == source.OrderStream {
		f.Rebalance = func(t *testing.T) {
			if err := p.stream(t).UnpinConsumer(t.Context(), "readers", "postbag"); err != nil {
				t.Error(err)
			}
		}
	}
	return f
}

// sendTo stores a message, its headers as they are.
func sendTo(t *testing.T, p place, m source.Message) {
	t.Helper()
	msg := nats.NewMsg(p.topic())
	msg.Data = m.Payload
	for _, h := range m.Headers {
		msg.Header[h.Name] = append(msg.Header[h.Name], h.Value)
	}
	publishtest.Eventually(t, "the message is stored", func() bool {
		ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
		defer cancel()
		_, err := p.js.PublishMsg(ctx, msg, jetstream.WithRetryAttempts(0))
		return err == nil
	})
}
