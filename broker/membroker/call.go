package membroker

import (
	"context"
	"sync"

	"github.com/postbag/postbag/broker"
)

// call is one Publish at work.
type call struct {
	ctx    context.Context //nolint:containedctx // it lives as long as the call
	state  *state
	msgs   []broker.Delivery
	number int

	mu     sync.Mutex // reports one at a time
	report func(i int, r broker.Result)

	lanes   map[string]*lane // by key, of an ordered broker
	waiting []*lane
}

// lane is a queue of messages that must go one after the other.
type lane struct {
	failed bool
	queue  []turn // not empty: it waits
}

// turn is a message of a call with what was decided for it.
type turn struct {
	i, try  int
	act     Act
	decided bool
}

// run takes the messages in order; those that must wait, and what must wait for
// them, end side by side.
func (c *call) run() {
	for i := range c.msgs {
		c.next(c.lane(i), i)
	}
	var lanes sync.WaitGroup
	for _, l := range c.waiting {
		lanes.Go(func() {
			for _, t := range l.queue {
				c.take(l, t)
			}
		})
	}
	lanes.Wait()
}

// lane returns the lane of message i: its key's if the broker is ordered, else
// one of its own.
func (c *call) lane(i int) *lane {
	key := c.msgs[i].Key
	if !c.state.options.Ordered || key == "" {
		return &lane{}
	}
	l := c.lanes[key]
	if l == nil {
		l = &lane{}
		c.lanes[key] = l
	}
	return l
}

// next takes message i at once, unless it or its lane must wait.
func (c *call) next(l *lane, i int) {
	t := turn{i: i}
	if len(l.queue) > 0 {
		l.queue = append(l.queue, t)
		return
	}
	if !l.failed && c.ctx.Err() == nil {
		t = c.decide(t)
	}
	if t.act.waits() {
		l.queue = append(l.queue, t)
		c.waiting = append(c.waiting, l)
		return
	}
	c.take(l, t)
}

func (c *call) decide(t turn) turn {
	t.act, t.try = c.state.decide(c.msgs[t.i])
	t.decided = true
	return t
}

// take brings one message to its answer.
func (c *call) take(l *lane, t turn) {
	r := c.answer(l, t)
	l.failed = l.failed || r.Outcome != broker.Accepted
	c.mu.Lock()
	defer c.mu.Unlock()
	c.report(t.i, r)
}

func (c *call) answer(l *lane, t turn) (r broker.Result) {
	if l.failed {
		return broker.Result{Outcome: broker.NotSent, Err: errBlocked}
	}
	if !t.decided {
		if c.ctx.Err() != nil {
			return broker.Result{Outcome: broker.NotSent, Err: errLate}
		}
		t = c.decide(t)
	}
	m := c.msgs[t.i]
	defer func() { c.state.answered(m, t.try, r) }()
	unknown := broker.Result{Outcome: broker.Unknown, Err: errNoReply}
	if !t.act.before(c.ctx) {
		return unknown
	}
	r = c.state.take(m, t.act, c.number)
	if !await(c.ctx, t.act.Silence) {
		return unknown
	}
	return r
}
