package mqttbroker

import (
	"context"

	"github.com/postbag/postbag/broker"
	"github.com/postbag/postbag/broker/brokerkit"
)

// call is one Publish at work. Its worker sends; answers come from the connection.
type call struct {
	brokerkit.Ledger

	d    *Destination
	over chan struct{} // closed when every message has its fate
}

func newCall(d *Destination, msgs []broker.Delivery, report func(i int, r broker.Result)) *call {
	c := &call{d: d, over: make(chan struct{})}
	c.Open(msgs, report, func() { close(c.over) }, nil)
	return c
}

// work sends the messages and stays until each has its fate.
func (c *call) work(ctx context.Context) {
	defer c.d.guard.Leave()
	x, f := c.d.connection(ctx)
	if f != nil {
		if ctx.Err() != nil {
			f = adapter.NotInTime()
		}
		c.End(f, f)
		return
	}
	for i := range c.Len() {
		if !c.send(ctx, x, i) {
			break
		}
	}
	x.flush()
	select {
	case <-c.over:
		c.d.retire(x)
	case <-x.gone: // which answered what was sent
		c.End(errLost("it ended"), x.unsent())
	case <-ctx.Done():
	}
}

// send sends message i, or gives it its fate. It says whether the next one may
// follow.
func (c *call) send(ctx context.Context, x *connection, i int) bool {
	m, ok := c.Message(i)
	if !ok {
		return false
	}
	p, f := c.d.build(&m, &x.limits)
	if f != nil {
		c.Answer(i, brokerkit.Result(f))
		return true
	}
	if !c.awaitRoom(ctx, x) {
		return false
	}
	if !c.Sending(i) {
		<-x.room
		return false
	}
	return x.publish(p, ticket{call: c, i: i, topic: p.Topic})
}

// awaitRoom waits until one more message may be under way.
func (c *call) awaitRoom(ctx context.Context, x *connection) bool {
	select {
	case x.room <- struct{}{}:
		return true
	default:
	}
	x.flush() // answers to what lies there make room
	select {
	case x.room <- struct{}{}:
		return true
	case <-x.gone:
	case <-c.over:
	case <-ctx.Done():
	}
	return false
}
