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

	sequences map[string]*sequence // by key, of an ordered broker
	waiting   []*sequence
}

// sequence is a queue of messages that must go one after the other.
type sequence struct {
	failed bool
	queue  []decision // not empty: it waits
}

// decision is a message of a call with what was decided for it.
type decision struct {
	i, try  int
	act     Act
	decided bool
}

// run takes the messages in order; those that must wait, and what must wait for
// them, end side by side.
func (c *call) run() {
	for i := range c.msgs {
		c.next(c.sequenceOf(i), i)
	}
	var sequences sync.WaitGroup
	for _, l := range c.waiting {
		sequences.Go(func() {
			for _, t := range l.queue {
				c.take(l, t)
			}
		})
	}
	sequences.Wait()
}

// sequenceOf returns the sequence of message i: its key's if the broker is ordered, else
// one of its own.
func (c *call) sequenceOf(i int) *sequence {
	key := c.msgs[i].Key
	if !c.state.options.Ordered || key == "" {
		return &sequence{}
	}
	l := c.sequences[key]
	if l == nil {
		l = &sequence{}
		c.sequences[key] = l
	}
	return l
}

// next takes message i at once, unless it or its sequence must wait.
func (c *call) next(l *sequence, i int) {
	t := decision{i: i}
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

func (c *call) decide(t decision) decision {
	t.act, t.try = c.state.decide(c.msgs[t.i])
	t.decided = true
	return t
}

// take brings one message to its answer.
func (c *call) take(l *sequence, t decision) {
	r := c.answer(l, t)
	l.failed = l.failed || r.Outcome != broker.Accepted
	c.mu.Lock()
	defer c.mu.Unlock()
	c.report(t.i, r)
}

func (c *call) answer(l *sequence, t decision) (r broker.Result) {
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
