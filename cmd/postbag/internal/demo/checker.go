package demo

import (
	"context"
	"encoding/json"
	"fmt"
	"sync"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/postbag/postbag/broker/natsbroker"
)

// order is what the shop publishes: the N-th order of a customer.
type order struct {
	Customer int `json:"customer"`
	N        int `json:"n"`
	Cents    int `json:"cents"`
}

// checker consumes the stream and checks what arrives.
type checker struct {
	nc   *nats.Conn
	stop func()
	// stored is told when each message was committed and when the broker stored it, in
	// the order in which it did.
	stored func(committed, at time.Time)

	mu         sync.Mutex
	seen       map[[2]int]bool
	last       map[int]int // of a customer, the latest N seen for the first time
	distinct   int
	duplicates int
	disorder   int
	failed     error
}

func startChecker(ctx context.Context, url string, stored func(committed, at time.Time)) (*checker, error) {
	nc, err := connect(url)
	if err != nil {
		return nil, fmt.Errorf("demo: the consumer cannot connect: %w", err)
	}
	c := &checker{nc: nc, stored: stored, seen: make(map[[2]int]bool), last: make(map[int]int)}
	if err := c.consume(ctx); err != nil {
		nc.Close()
		return nil, fmt.Errorf("demo: the consumer cannot be made: %w", err)
	}
	return c, nil
}

func (c *checker) consume(ctx context.Context) error {
	js, err := jetstream.New(c.nc)
	if err != nil {
		return err
	}
	consumer, err := js.CreateConsumer(ctx, streamName, jetstream.ConsumerConfig{
		Durable: "checker", AckPolicy: jetstream.AckExplicitPolicy, DeliverPolicy: jetstream.DeliverAllPolicy, MaxAckPending: 1,
		AckWait: time.Second, // an acknowledgement that a restart of the broker swallows held up all behind it for 30 s
	})
	if err != nil {
		return err
	}
	consuming, err := consumer.Consume(c.take)
	if err != nil {
		return err
	}
	c.stop = func() {
		consuming.Stop()
		<-consuming.Closed()
	}
	return nil
}

// take checks one message. One is out at a time, so that a redelivery by the
// broker cannot look like disorder.
func (c *checker) take(m jetstream.Msg) {
	var o order
	err := json.Unmarshal(m.Data(), &o)
	tries := uint64(1)
	if meta, metaErr := m.Metadata(); metaErr == nil {
		tries = meta.NumDelivered
		if d, err := natsbroker.Message(m); err == nil {
			c.stored(d.At, meta.Timestamp)
		}
	}
	c.mu.Lock()
	if err != nil {
		c.failed = fmt.Errorf("demo: a message is damaged: %w", err)
	} else {
		c.check(o, tries)
	}
	c.mu.Unlock()
	_ = m.Ack() // a lost one is redelivered, and known then
}

// check notes an order that the broker hands out for so many times.
func (c *checker) check(o order, tries uint64) {
	key := [2]int{o.Customer, o.N}
	if c.seen[key] {
		if tries == 1 { // or else it is the broker's own redelivery
			c.duplicates++
		}
		return
	}
	c.seen[key] = true
	c.distinct++
	if o.N < c.last[o.Customer] {
		c.disorder++
	}
	c.last[o.Customer] = max(c.last[o.Customer], o.N)
}

func (c *checker) count() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.distinct
}

func (c *checker) err() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.failed
}

// compare returns how many committed orders are missing, and how many arrived
// that were never committed.
func (c *checker) compare(committed map[[2]int]bool) (lost, phantoms int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for key := range committed {
		if !c.seen[key] {
			lost++
		}
	}
	for key := range c.seen {
		if !committed[key] {
			phantoms++
		}
	}
	return lost, phantoms
}

func (c *checker) close() error {
	c.stop()
	c.nc.Close()
	return nil
}
