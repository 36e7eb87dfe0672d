package rabbitbroker

import (
	"context"
	"sync"

	amqp "github.com/rabbitmq/amqp091-go"

	"github.com/postbag/postbag/broker"
)

// call is one Publish at work. Lanes send its messages and bring the
// answers; the one that ends it, by the last answer or by its context, ends it for all.
type call struct {
	d    *Destination
	over chan struct{} // closed when every message has its fate

	mu     sync.Mutex
	msgs   []broker.Delivery // nil once the call is over: the slice is the caller's
	report func(i int, r broker.Result)
	items  []item
	left   int // without a fate
}

// item is one message of a call.
type item struct {
	call          *call
	index         int
	lane          *lane
	exchange, key string // where it goes
	id            string // its message-id
	size          int    // of its payload

	// The call's, under its lock.
	state itemState
	tried bool          // it went out once, and may be stored
	last  *broker.Error // the answer of that time, if there was one

	// The lane's, under its lock.
	confirm *amqp.DeferredConfirmation // nil until it was published
	flying  bool                       // in lane.flight
	left    bool                       // its call has ended without its answer
	back    bool                       // the server returned it
	nacks   int
}

type itemState uint8

const (
	waiting itemState = iota // to be sent
	sent
	settled
)

func newCall(d *Destination, msgs []broker.Delivery, report func(i int, r broker.Result)) *call {
	c := &call{
		d: d, over: make(chan struct{}),
		msgs: msgs, report: report, items: make([]item, len(msgs)), left: len(msgs),
	}
	for i := range c.items {
		c.items[i].call, c.items[i].index = c, i
	}
	return c
}

// sending marks an item as sent, which it is from now on for all we know, and
// returns its message, unless it has its fate. before says whether it went out at
// another time.
func (c *call) sending(it *item) (m broker.Delivery, before, ok bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if it.state == settled {
		return m, false, false
	}
	before = it.tried
	it.state, it.tried, it.last = sent, true, nil
	return c.msgs[it.index], before, true
}

// again makes an item one that waits: with what it was answered, nil when its fate
// is not known. It says whether that is still of use.
func (c *call) again(it *item, answer *broker.Error) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if it.state == settled {
		return false
	}
	it.state, it.last = waiting, answer
	return true
}

// unsent takes back sending: the client did not let the message out.
func (c *call) unsent(it *item, before bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if it.state == sent {
		it.state, it.tried = waiting, before
	}
}

// settle gives an item its fate, unless it has one.
func (c *call) settle(it *item, r broker.Result) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.settleLocked(it, r)
}

// refuse settles an item that waits because of f, which is not all the truth for
// one that went out before.
func (c *call) refuse(it *item, f *broker.Error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.refuseLocked(it, f, errNoAnswer())
}

func (c *call) refuseLocked(it *item, unsent, unanswered *broker.Error) {
	switch {
	case !it.tried:
		c.settleLocked(it, result(unsent))
	case it.last != nil:
		c.settleLocked(it, result(it.last))
	default:
		c.settleLocked(it, result(unanswered))
	}
}

func (c *call) settleLocked(it *item, r broker.Result) {
	if it.state == settled {
		return
	}
	it.state = settled
	c.report(it.index, r)
	if c.left--; c.left == 0 {
		c.msgs, c.report = nil, nil
		close(c.over)
	}
}

// end gives every message that has no fate one of these: what went out, and what
// did not. A call that is over is left as it is.
func (c *call) end(unanswered, unsent *broker.Error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for i := range c.items {
		it := &c.items[i]
		switch it.state {
		case settled:
			continue
		case sent:
			it.lane.leave(it)
			c.settleLocked(it, result(unanswered))
		case waiting:
			c.refuseLocked(it, unsent, unanswered)
		}
	}
}

// dispatch hands the messages, as far as prepare finds them good, to their lanes. It
// does not wait.
func (c *call) dispatch(ctx context.Context, prepare func(m *broker.Delivery, it *item) *broker.Error) {
	lanes := make([][]*item, len(c.d.lanes))
	for i := range c.msgs {
		it := &c.items[i]
		if f := prepare(&c.msgs[i], it); f != nil {
			c.settle(it, result(f))
			continue
		}
		n := c.d.laneOf(&c.msgs[i])
		it.lane = c.d.lanes[n]
		lanes[n] = append(lanes[n], it)
	}
	for n, items := range lanes {
		if len(items) > 0 && ctx.Err() == nil {
			c.d.lanes[n].push(items)
		}
	}
}
