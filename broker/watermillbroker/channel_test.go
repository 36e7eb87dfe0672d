package watermillbroker_test

import (
	"context"
	"errors"
	"maps"
	"sync"
	"testing"

	"github.com/ThreeDotsLabs/watermill/message"
	"github.com/ThreeDotsLabs/watermill/pubsub/gochannel"

	"github.com/postbag/postbag/broker"
	"github.com/postbag/postbag/broker/brokertest"
	"github.com/postbag/postbag/broker/watermillbroker"
)

const spoiled = "spoiled"

// channel is Watermill's own GoChannel with one subscriber that keeps all it gets.
// It can be closed and made again, and its answers can be lost.
type channel struct {
	t     *testing.T
	topic string

	using sync.RWMutex // held by who publishes: a GoChannel that closes calls what it drops published
	inner *gochannel.GoChannel
	done  chan struct{} // closed when the subscriber has ended

	mu   sync.Mutex
	mute chan struct{} // not nil while answers get lost; closed when they come again
	held []*message.Message
	// allowed: the topic that was missing is there.
	allowed bool
	size    []int // of the publisher's calls
}

func newChannel(t *testing.T) *channel {
	t.Helper()
	c := &channel{t: t, topic: "conformance"}
	c.start()
	t.Cleanup(func() {
		c.unmute()
		c.stop()
	})
	return c
}

func (c *channel) start() {
	c.using.Lock()
	defer c.using.Unlock()
	inner := gochannel.NewGoChannel(gochannel.Config{BlockPublishUntilSubscriberAck: true}, nil)
	messages, err := inner.Subscribe(context.Background(), c.topic)
	if err != nil {
		c.t.Errorf("subscribe: %v", err)
		return
	}
	done := make(chan struct{})
	c.inner, c.done = inner, done
	go func() {
		defer close(done)
		for m := range messages {
			c.mu.Lock()
			c.held = append(c.held, m)
			c.mu.Unlock()
			m.Ack()
		}
	}()
}

func (c *channel) stop() {
	c.using.Lock()
	defer c.using.Unlock()
	if err := c.inner.Close(); err != nil {
		c.t.Errorf("close: %v", err)
	}
	<-c.done
}

func (c *channel) silence() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.mute = make(chan struct{})
}

func (c *channel) unmute() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.mute != nil {
		close(c.mute)
		c.mute = nil
	}
}

// missing is a topic that is not there until it is allowed.
const missing = "missing"

func (c *channel) allow() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.allowed = true
}

// Publish implements message.Publisher.
func (c *channel) Publish(topic string, messages ...*message.Message) error {
	for _, m := range messages {
		if m.Metadata.Get(broker.HeaderType) == spoiled {
			return &broker.Error{Outcome: broker.Rejected, Err: errors.New("the marshaler has no schema for it")}
		}
	}
	c.mu.Lock()
	mute := c.mute
	if topic == missing && !c.allowed {
		c.mu.Unlock()
		return &broker.Error{Outcome: broker.Misconfigured, Scope: broker.ScopeTopic, Err: errors.New("there is no such topic")}
	}
	c.size = append(c.size, len(messages))
	c.mu.Unlock()
	err := c.publish(topic, messages)
	if mute != nil {
		<-mute
		return errors.New("connection lost")
	}
	return err
}

func (c *channel) publish(topic string, messages []*message.Message) error {
	c.using.RLock()
	defer c.using.RUnlock()
	return c.inner.Publish(topic, messages...)
}

func (c *channel) Close() error { return nil }

func (c *channel) messages() []*message.Message {
	c.mu.Lock()
	defer c.mu.Unlock()
	return append([]*message.Message(nil), c.held...)
}

func (c *channel) stored(t *testing.T) []brokertest.Received {
	t.Helper()
	var held []brokertest.Received
	for _, m := range c.messages() {
		r, err := brokertest.FromHeaders(c.topic, m.Metadata, m.Payload)
		if err != nil {
			t.Fatal(err)
		}
		if m.UUID != r.ID.String() { // it had another in Watermill
			r.Headers["Watermill-Uuid"] = m.UUID
		}
		held = append(held, r)
	}
	return held
}

func (c *channel) wired(*testing.T) []brokertest.Wired {
	var held []brokertest.Wired
	for _, m := range c.messages() {
		held = append(held, brokertest.Wired{Headers: maps.Clone(m.Metadata), ContentType: m.Metadata.Get("Content-Type"), Payload: m.Payload})
	}
	return held
}

func (c *channel) fixture(t *testing.T, o watermillbroker.Options) brokertest.Fixture {
	t.Helper()
	return brokertest.Fixture{Destination: over(t, c, o), Topic: c.topic, Stored: c.stored, Wired: c.wired}
}
