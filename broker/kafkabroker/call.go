package kafkabroker

import (
	"context"
	"sync"

	"github.com/postbag/postbag/broker"
)

// call is one Publish: who is waiting for which answer. Answers come from
// a job; the one that ends it, by the last answer or by its context, ends it for all.
type call struct {
	over   context.Context //nolint:containedctx // done when every message has its fate
	finish context.CancelFunc

	mu     sync.Mutex
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

func newCall(ctx context.Context, n int, report func(i int, r broker.Result)) *call {
	c := &call{report: report, state: make([]messageState, n), left: n}
	c.over, c.finish = context.WithCancel(context.WithoutCancel(ctx))
	return c
}

// sending marks message i as sent, which it is from now on for all we know, unless
// the call is over.
func (c *call) sending(i int) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.state[i] == settled {
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
		c.finish()
	}
}

// end gives every message that has no fate one of these: what was sent, and what
// was not. It says whether an answer was still out.
func (c *call) end(unanswered, unsent *broker.Error) (out bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for i, state := range c.state {
		switch state {
		case waiting:
			c.settleLocked(i, result(unsent))
		case sent:
			out = true
			c.settleLocked(i, result(unanswered))
		case settled:
		}
	}
	return out
}
