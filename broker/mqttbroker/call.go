package mqttbroker

import (
	"context"
	"sync"

	"github.com/postbag/postbag/broker"
)

// call is one Publish at work. Its worker sends; answers come from the
// connection; the one that ends it, by the last answer, by its context, by the loss of
// the connection, ends it for all.
type call struct {
	d    *Destination
	over chan struct{} // closed when every message has its fate

	mu     sync.Mutex
	msgs   []broker.Delivery // nil once the call is over: the slice is the caller's
	report func(i int, r broker.Result)
	state  []messageState
	left   int // without a fate
}

type messageState uint8

const (
	waiting messageState = iota
	sent
	settled
)

func newCall(d *Destination, msgs []broker.Delivery, report func(i int, r broker.Result)) *call {
	return &call{d: d, over: make(chan struct{}), msgs: msgs, report: report, state: make([]messageState, len(msgs)), left: len(msgs)}
}

// message returns message i, unless the call is over.
func (c *call) message(i int) (m broker.Delivery, ok bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.msgs == nil {
		return m, false
	}
	return c.msgs[i], true
}

// sending marks message i as sent, which it is from now on for all we know,
// unless the call is over.
func (c *call) sending(i int) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.msgs == nil {
		return false
	}
	c.state[i] = sent
	return true
}

// settle gives message i its fate, unless it has one.
func (c *call) settle(i int, r broker.Result) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.settleLocked(i, r)
}

func (c *call) settleLocked(i int, r broker.Result) {
	if c.state[i] == settled {
		return
	}
	c.state[i] = settled
	c.report(i, r)
	if c.left--; c.left == 0 {
		c.msgs, c.report = nil, nil
		close(c.over)
	}
}

// end gives every message that has no fate one of these: what was sent, and what
// was not. A call that is over is left as it is.
func (c *call) end(unanswered, unsent *broker.Error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for i, state := range c.state {
		switch state {
		case waiting:
			c.settleLocked(i, result(unsent))
		case sent:
			c.settleLocked(i, result(unanswered))
		case settled:
		}
	}
}

// work sends the messages and stays until each has its fate.
func (c *call) work(ctx context.Context) {
	defer c.d.gate.Leave()
	x, f := c.d.connection(ctx)
	if f != nil {
		if ctx.Err() != nil {
			f = errNotInTime()
		}
		c.end(f, f)
		return
	}
	for i := range c.state {
		if !c.send(ctx, x, i) {
			break
		}
	}
	x.flush()
	select {
	case <-c.over:
		c.d.retire(x)
	case <-x.gone: // which settled what was sent
		c.end(errLost("it ended"), x.unsent())
	case <-ctx.Done():
	}
}

// send sends message i, or gives it its fate. It says whether the next one may
// follow.
func (c *call) send(ctx context.Context, x *connection, i int) bool {
	m, ok := c.message(i)
	if !ok {
		return false
	}
	p, f := c.d.build(&m, &x.limits)
	if f != nil {
		c.settle(i, result(f))
		return true
	}
	if !c.slot(ctx, x) {
		return false
	}
	if !c.sending(i) {
		<-x.slots
		return false
	}
	return x.publish(p, ticket{call: c, i: i, topic: p.Topic})
}

// slot waits until one more message may be under way.
func (c *call) slot(ctx context.Context, x *connection) bool {
	select {
	case x.slots <- struct{}{}:
		return true
	default:
	}
	x.flush() // answers to what lies there make room
	select {
	case x.slots <- struct{}{}:
		return true
	case <-x.gone:
	case <-c.over:
	case <-ctx.Done():
	}
	return false
}
