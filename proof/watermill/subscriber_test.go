package watermill_test

import (
	"context"
	"sync"
	"testing"
	"time"

	watermillnats "github.com/ThreeDotsLabs/watermill-nats/v2/pkg/nats"
	"github.com/ThreeDotsLabs/watermill/message"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
)

// subscriber reads what watermill-nats publishes, a stream for each topic. That
// library's own subscriber for JetStream sends on a channel that it has closed when
// it is closed at work (2.1.3).
type subscriber struct {
	js    jetstream.JetStream
	group string // of consumers that share the messages; empty: each gets all

	closing context.Context // ends with Close
	end     context.CancelFunc
	reading sync.WaitGroup
}

func newSubscriber(t *testing.T, js jetstream.JetStream, group string) *subscriber {
	t.Helper()
	s := &subscriber{js: js, group: group}
	s.closing, s.end = context.WithCancel(context.Background())
	return s
}

// SubscribeInitialize implements message.SubscribeInitializer.
func (s *subscriber) SubscribeInitialize(topic string) error {
	_, err := s.js.CreateOrUpdateStream(s.closing, jetstream.StreamConfig{Name: topic, Subjects: []string{topic}})
	return err
}

// Subscribe implements message.Subscriber: one message at a time, the next when it
// was acknowledged.
func (s *subscriber) Subscribe(ctx context.Context, topic string) (<-chan *message.Message, error) {
	if err := s.SubscribeInitialize(topic); err != nil {
		return nil, err
	}
	consumer, err := s.js.CreateOrUpdateConsumer(ctx, topic, jetstream.ConsumerConfig{
		Durable: s.group, AckPolicy: jetstream.AckExplicitPolicy, MaxAckPending: 1, AckWait: 5 * time.Second,
	})
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithCancel(ctx)
	stopClosing := context.AfterFunc(s.closing, cancel)
	out := make(chan *message.Message)
	s.reading.Go(func() {
		defer close(out)
		defer stopClosing()
		defer cancel()
		for ctx.Err() == nil {
			batch, err := consumer.Fetch(1, jetstream.FetchMaxWait(200*time.Millisecond))
			if err != nil {
				return
			}
			for m := range batch.Messages() {
				if !hand(ctx, m, out) {
					return
				}
			}
		}
	})
	return out, nil
}

// hand gives m to the reader until it is acknowledged, and says whether to go on.
func hand(ctx context.Context, m jetstream.Msg, out chan<- *message.Message) bool {
	decoded, err := (&watermillnats.NATSMarshaler{}).Unmarshal(&nats.Msg{Header: m.Headers(), Data: m.Data()})
	if err != nil {
		return false
	}
	of, cancel := context.WithCancel(ctx)
	defer cancel()
	decoded.SetContext(of)
	select {
	case out <- decoded:
	case <-ctx.Done():
		_ = m.Nak() // so that another subscriber gets it at once
		return false
	}
	select {
	case <-decoded.Acked():
		return m.Ack() == nil
	case <-decoded.Nacked():
		return m.Nak() == nil
	case <-ctx.Done():
		_ = m.Nak()
		return false
	}
}

// Close implements message.Subscriber.
func (s *subscriber) Close() error {
	s.end()
	s.reading.Wait()
	return nil
}
