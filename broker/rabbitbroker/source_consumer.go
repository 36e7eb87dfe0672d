package rabbitbroker

import (
	"context"
	"errors"
	"time"

	amqp "github.com/rabbitmq/amqp091-go"

	"github.com/postbag/postbag/source"
)

// consumer is one assignment of the queue: a channel of a connection of its own, from the
// request for messages to the channel's end.
type consumer struct {
	s     *Source
	line  *line
	ch    *amqp.Channel
	epoch uint64

	incoming  <-chan amqp.Delivery // closed with the channel, and with the connection
	cancelled chan string          // the server gives no more: the queue was deleted, or moved
	closed    chan *amqp.Error     // the channel's end
	wake      chan struct{}        // there may be something to write
	endAt     chan time.Time       // when to end because of a release
	done      chan struct{}        // closed: write what there is, and no more
	written   chan struct{}        // closed when nothing is written any more

	// Source.mu guards these.
	tags tags
	over bool // the assignment is; the channel may be open
}

// consumerEnd is why a consumer reads no more.
type consumerEnd int

const (
	endLost     consumerEnd = iota // the server ended it, or the connection is gone
	endReleased                    // a release with an order
	endClosed                      // the source is closed
)

// run takes messages over one connection after another until ctx ends.
func (s *Source) run(ctx context.Context) {
	pause := shortestPause
	for ctx.Err() == nil {
		began := time.Now()
		c, err := s.open(ctx)
		if err != nil {
			s.say(err)
			sleep(ctx, pause)
			pause = min(2*pause, longestPause)
			continue
		}
		pause = shortestPause
		s.begin(c)
		end := c.read(ctx)
		s.finish(c, end)
		if end == endLost && time.Since(began) < time.Second {
			sleep(ctx, shortestPause) // what ends so soon may do so again and again
		}
	}
}

// sleep waits for d, or until ctx ends.
func sleep(ctx context.Context, d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
	}
}

// open makes a connection, and asks for messages over it.
func (s *Source) open(ctx context.Context) (*consumer, error) {
	line, f := s.access.connect(ctx)
	if f != nil {
		return nil, s.connectionFailure(f)
	}
	defer context.AfterFunc(ctx, line.cut)()
	patience := time.AfterFunc(handshakeTimeout, line.cut)
	defer patience.Stop()
	c, err := s.consume(line)
	if err != nil {
		line.close()
		if why, ok := errors.AsType[*amqp.Error](err); ok {
			return nil, s.consumeFailure(doingFetch, why)
		}
		return nil, s.unavailable(doingFetch, "the connection was lost", "wait, or look whether the server runs")
	}
	return c, nil
}

// defaultPriority is the priority that a consumer has without the argument. Streams know no
// priorities: the server refuses a consumer of a stream that names one.
const defaultPriority = 0

func (s *Source) consume(line *line) (*consumer, error) {
	ch, err := line.conn.Channel()
	if err != nil {
		return nil, err
	}
	c := &consumer{
		s: s, line: line, ch: ch, tags: newTags(),
		cancelled: ch.NotifyCancel(make(chan string, 1)), closed: ch.NotifyClose(make(chan *amqp.Error, 1)),
		wake: make(chan struct{}, 1), endAt: make(chan time.Time, 1), done: make(chan struct{}), written: make(chan struct{}),
	}
	if err := ch.Qos(s.options.Prefetch, 0, false); err != nil {
		return nil, err
	}
	c.incoming, err = ch.Consume(s.options.Queue, s.options.Login.Name, false, false, false, false, amqp.Table{"x-priority": int32(defaultPriority)})
	return c, err
}

// begin makes c the one whose messages Fetch returns.
func (s *Source) begin(c *consumer) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.epochs++
	c.epoch, s.consumer, s.fault, s.unsure = s.epochs, c, nil, false
	go c.write()
}

// read takes what comes until the consumer is to end.
func (c *consumer) read(ctx context.Context) consumerEnd {
	timer := time.NewTimer(0)
	defer timer.Stop()
	var released <-chan time.Time
	for {
		select {
		case d, open := <-c.incoming:
			if !open {
				return endLost
			}
			c.s.arrive(c, c.s.message(&d), d.DeliveryTag)
		case _, open := <-c.line.blocked: // it is about those who publish
			if !open {
				c.line.blocked = nil
			}
		case at := <-c.endAt:
			timer.Reset(time.Until(at))
			released = timer.C
		case <-released:
			return endReleased
		case <-c.cancelled:
			return endLost
		case <-ctx.Done():
			return endClosed
		}
	}
}

// finish ends a consumer: what is not acked goes back to the queue. If the source is closed,
// it notes whether that is sure.
func (s *Source) finish(c *consumer, end consumerEnd) {
	s.mu.Lock()
	s.lose(c)
	leave := s.leave
	s.mu.Unlock()
	if end != endClosed {
		within, cancel := context.WithTimeout(context.Background(), farewellTimeout)
		defer cancel()
		leave = within
	}
	err := c.farewell(leave)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.consumer = nil
	if err == nil || c.tags.next == 1 { // or nothing came
		return
	}
	if end == endClosed {
		s.left = err
	}
	s.unsure = c.tags.acked
}

// farewell writes the acks that are outstanding, and ends channel and connection. An error
// says that the server may know nothing of it.
func (c *consumer) farewell(ctx context.Context) error {
	defer context.AfterFunc(ctx, c.line.cut)()
	close(c.done)
	<-c.written
	err := errors.Join(c.passOn(), c.ch.Close())
	if why := <-c.closed; why != nil {
		err = why
	}
	c.line.close()
	switch {
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case err != nil:
		return c.s.unavailable(doingClose, "the connection was lost before the server said that it has the acks", "expect messages that were acked to come again")
	}
	return nil
}

// passOn waits until the server's channel has passed all acks on to the queue. While many
// are under way to a quorum queue, the channel keeps others back, and forgets them when it
// is closed. It passes them on when those before are in the queue's log. So passOn has
// something written behind them: the end of the consumer. With an order that could let
// another source begin too early. Then it is a second consumer, which stands by and ends.
func (c *consumer) passOn() error {
	c.s.mu.Lock()
	acked := c.tags.acked
	c.s.mu.Unlock()
	if !acked {
		return nil
	}
	if err := c.sync(); err != nil {
		return err
	}
	tag, ch := c.s.options.Login.Name, c.ch
	if c.s.ordered() {
		second, err := c.line.conn.Channel()
		if err != nil {
			return err
		}
		defer func() { _ = second.Close() }() // or it ends with the connection
		if _, err := second.Consume(c.s.options.Queue, tag, false, false, false, false, nil); err != nil {
			return err
		}
		ch = second
	}
	if err := ch.Cancel(tag, false); err != nil {
		return err
	}
	return c.sync()
}

// sync returns when the server's channel has done everything that was written before, with a
// question that changes nothing.
func (c *consumer) sync() error { return c.ch.Qos(c.s.options.Prefetch, 0, false) }

// say notes why nothing comes.
func (s *Source) say(err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.fault = err
	signal(s.wake)
}

// partition is the only one: the queue.
func (s *Source) partition() source.Partition { return source.Partition(s.options.Queue) }
