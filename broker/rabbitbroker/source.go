package rabbitbroker

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	amqp "github.com/rabbitmq/amqp091-go"

	"github.com/postbag/postbag/broker"
	"github.com/postbag/postbag/source"
	"github.com/postbag/postbag/source/sourcekit"
)

// Source takes messages from a queue of RabbitMQ. Make it with OpenSource. It is safe for
// concurrent use; one goroutine fetches.
type Source struct {
	subject

	options SourceOptions
	access  access // of run
	life    sourcekit.Life

	stop    context.CancelFunc // ends run
	running sync.WaitGroup     // run
	wake    chan struct{}      // there may be something for Fetch

	mu       sync.Mutex
	epochs   uint64
	consumer *consumer        // nil between two
	queue    []source.Message // what came and was not returned, of consumer
	told     bool             // a message of the assignment was returned
	lost     bool             // what the next Fetch says
	fault    error            // why there is no consumer, once that is known
	unsure   bool             // acks were written to a connection that was lost, and there is no other yet
	leave    context.Context  //nolint:containedctx // that of Close
	left     error            // what Close says
}

var (
	_ source.Source = (*Source)(nil)
	_ source.Lagger = (*Source)(nil)
)

// OpenSource makes a source, which connects in the background, and renews a lost connection
// for ever. Close it.
//
// A server that is not there is no error: Fetch is unavailable until it is. So are a queue
// that does not exist, a right that is missing and a login that is refused, as
// misconfigured. An error means that the options cannot be used, or that ctx is over. ctx
// does not matter afterwards.
func OpenSource(ctx context.Context, o SourceOptions) (*Source, error) {
	if err := o.Validate(); err != nil {
		return nil, err
	}
	o = o.withDefaults()
	servers, err := sourceAccess(ctx, o.URL, o.Login, o.Topology)
	if err != nil {
		return nil, err
	}
	s := &Source{
		subject: subject{noun: "queue", name: o.Queue, where: places(servers.hosts), options: "SourceOptions"},
		options: o, access: servers, wake: make(chan struct{}, 1),
	}
	work, stop := context.WithCancel(context.Background())
	s.stop = stop
	s.running.Go(func() { s.run(work) })
	return s, nil
}

// sourceAccess is how a source makes its connections. An error means that ctx is over, or that no URL can be used.
func sourceAccess(ctx context.Context, urls string, login Login, topology Topology) (access, error) {
	if ctx.Err() != nil {
		return access{}, context.Cause(ctx)
	}
	hosts, err := parseURLs(urls)
	return access{hosts: hosts, login: login, topology: topology, wrap: newTolerant}, err
}

// ordered says whether the source has an order.
func (s *Source) ordered() bool { return s.options.Order == source.OrderStream }

// Features implements source.Source.
func (s *Source) Features() source.Features {
	return source.Features{Order: s.options.Order, Counts: true, MaxUnacked: s.options.Prefetch, Binding: broker.BindingAMQP}
}

// Lag implements source.Lagger. It returns one entry: the messages in the queue that are
// ready, and those that this source has and did not ack. What other sources have is not
// among them. The age is not known.
func (s *Source) Lag(ctx context.Context) ([]source.Lag, error) {
	done, err := s.life.Call(ctx)
	if err != nil {
		return nil, err
	}
	defer done()
	s.mu.Lock()
	c, fault := s.consumer, s.fault
	s.mu.Unlock()
	switch {
	case c == nil && fault != nil:
		return nil, fault
	case c == nil:
		return nil, s.unavailable(doingLag, "there is no connection", "wait, or look whether the server runs")
	}
	type answer struct {
		ready int
		err   error
	}
	answered := make(chan answer, 1)
	go func() { // the client heeds no context; it lets go when the connection ends
		n, err := c.line.ready(s.options.Queue)
		answered <- answer{n, err}
	}()
	timer := time.NewTimer(handshakeTimeout)
	defer timer.Stop()
	var a answer
	select {
	case a = <-answered:
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	case <-timer.C:
		return nil, s.unavailable(doingLag, "the server does not answer", fixWait)
	}
	if why, ok := errors.AsType[*amqp.Error](a.err); ok {
		return nil, s.consumeFailure(doingLag, why)
	} else if a.err != nil {
		return nil, s.unavailable(doingLag, "the connection was lost", "wait, or look whether the server runs")
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	lag := source.Lag{Partition: s.partition(), Messages: int64(a.ready + c.tags.unacked())}
	if lag.Messages > 0 {
		lag.Age = -1
	}
	return []source.Lag{lag}, nil
}

// ready is how many messages of a queue wait for a consumer.
func (l *line) ready(queue string) (int, error) {
	ch, err := l.conn.Channel()
	if err != nil {
		return 0, err
	}
	defer func() { _ = ch.Close() }() // an error closed it already
	q, err := ch.QueueDeclarePassive(queue, true, false, false, false, nil)
	return q.Messages, err
}

// Close implements source.Source. The server gives to others at once what was not acked.
func (s *Source) Close(ctx context.Context) error {
	return s.life.Close(ctx, func(ctx context.Context) error {
		s.mu.Lock()
		s.leave = ctx
		s.mu.Unlock()
		s.stop()
		s.running.Wait()
		switch {
		case s.left != nil: // nobody else is there any more
			return fmt.Errorf("%w; what was at work comes again when the server notices that the connection is gone", s.left)
		case s.unsure:
			return s.unavailable(doingClose, "the connection was lost before the server said that it has the acks", "expect messages that were acked to come again")
		}
		return nil
	})
}
