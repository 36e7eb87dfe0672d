package natsbroker_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/postbag/postbag/broker"
	"github.com/postbag/postbag/broker/natsbroker"
	"github.com/postbag/postbag/internal/publishtest"
	"github.com/postbag/postbag/internal/testserver"
	"github.com/postbag/postbag/internal/testserver/servertest"
)

// BenchmarkAgainstRaw publishes the same messages (512 bytes, a key, two headers)
// through the destination and through two raw pipelined publishers, turn by turn
// in one run, to a server in a process of its own. It reports messages a second
// of each, and the destination's ratio to them:
//
//	go test -run xxx -bench AgainstRaw -benchtime 10x ./natsbroker
//
// "library" is the client library's own PublishMsgAsync, "bare" is the least that
// can be done: PublishMsg with a reply subject, and a count of what comes back.
func BenchmarkAgainstRaw(b *testing.B) {
	const round, call = 20_000, 1000
	s := servertest.NATS(b, testserver.NATSOptions{})
	nc := connect(b, s.URL())
	p := newPlace(b, nc).create(b, func(c *jetstream.StreamConfig) {
		c.MaxMsgs, c.Duplicates = 4*round, time.Second
	})
	d := publishtest.Made[*natsbroker.Destination](b)(natsbroker.New(p.js, natsbroker.Options{}))
	publishtest.Race(b, func() []broker.Delivery { return publishtest.Load(publishtest.Messages(p.topic(), round)) },
		publishtest.Publisher{Name: "bare", Run: bare(b, nc, p)},
		publishtest.Publisher{Name: "library", Run: library(b, nc, p)},
		publishtest.Through("destination", d, call),
		publishtest.Publisher{Name: "four-callers", Run: func(msgs []broker.Delivery) error { return publishtest.InCalls(d, msgs, call/4, 4) }})
}

// BenchmarkPublish is for profiles: one caller, calls of 1,000.
func BenchmarkPublish(b *testing.B) {
	const call = 1000
	s := servertest.NATS(b, testserver.NATSOptions{})
	p := newPlace(b, connect(b, s.URL())).create(b, func(c *jetstream.StreamConfig) { c.MaxMsgs, c.Duplicates = 10*call, time.Second })
	d := publishtest.Made[*natsbroker.Destination](b)(natsbroker.New(p.js, natsbroker.Options{}))
	publishtest.Alone(b, d, publishtest.Load(publishtest.Messages(p.topic(), call)))
}

// wire is a message as it goes over the wire in each of the publishers.
func wire(m broker.Delivery, stream string) *nats.Msg {
	id := m.ID.String()
	out := &nats.Msg{Subject: m.Topic, Data: m.Payload, Header: nats.Header{
		"Nats-Msg-Id": {id}, "Nats-Expected-Stream": {stream},
		broker.HeaderID: {id}, broker.HeaderKey: {m.Key}, broker.HeaderType: {m.Type}, broker.HeaderTime: {broker.FormatTime(m.At)},
	}}
	for name, value := range m.Headers {
		out.Header[name] = []string{value}
	}
	return out
}

// library waits for each call's acknowledgements, as the destination does.
func library(b *testing.B, nc *nats.Conn, p place) func([]broker.Delivery) error {
	b.Helper()
	js, err := jetstream.New(nc, jetstream.WithPublishAsyncMaxPending(4096))
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(js.CleanupPublisher)
	return func(msgs []broker.Delivery) error {
		for at := 0; at < len(msgs); at += 1000 {
			futures := make([]jetstream.PubAckFuture, 0, 1000)
			for _, m := range msgs[at : at+1000] {
				future, err := js.PublishMsgAsync(wire(m, p.name))
				if err != nil {
					return err
				}
				futures = append(futures, future)
			}
			for _, future := range futures {
				select {
				case <-future.Ok():
				case err := <-future.Err():
					return err
				}
			}
		}
		return nil
	}
}

func bare(b *testing.B, nc *nats.Conn, p place) func([]broker.Delivery) error {
	b.Helper()
	inbox := nc.NewInbox()
	answers := make(chan *nats.Msg, 1000)
	sub, err := nc.ChanSubscribe(inbox, answers)
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = sub.Unsubscribe() })
	return func(msgs []broker.Delivery) error {
		for at := 0; at < len(msgs); at += 1000 {
			for _, m := range msgs[at : at+1000] {
				out := wire(m, p.name)
				out.Reply = inbox
				if err := nc.PublishMsg(out); err != nil {
					return err
				}
			}
			for range 1000 {
				if m := <-answers; len(m.Data) == 0 || m.Data[2] == 'e' {
					return fmt.Errorf("refused: %s", m.Data)
				}
			}
		}
		return nil
	}
}
