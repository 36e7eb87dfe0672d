package natsbroker

import (
	"context"
	"sync"
	"time"

	"github.com/postbag/postbag/broker"
)

// call is one Publish at work. Its worker sends and looks after what is
// late; answers come from the inbox; the one that ends it, by the last answer, by its
// context, by the loss of the connection, ends it for all.
type call struct {
	d      *Destination
	number uint64
	ctx    context.Context //nolint:containedctx // it lives as long as the call
	over   context.Context //nolint:containedctx // done when every message has its fate
	finish context.CancelFunc
	began  time.Time
	before error // the connection's last error when the call began

	wake chan struct{} // a message was heard by nobody, or taken for a repeat

	mu      sync.Mutex
	msgs    []broker.Delivery // nil once the call is over: the slice is the caller's
	report  func(i int, r broker.Result)
	state   []messageState
	subject []string // of messages sent
	left    int      // without a fate
	strange bool     // something that is no stream answered
	repeats map[int]*repeat
}

type messageState uint8

const (
	waiting messageState = iota
	sent
	unheard  // sent, and nobody was there to hear it
	repeated // sent, and the stream says that it has it; whether it has is looked up
	settled
)

func newCall(ctx context.Context, d *Destination, msgs []broker.Delivery, report func(i int, r broker.Result)) *call {
	c := &call{
		d: d, ctx: ctx, began: time.Now(), wake: make(chan struct{}, 1),
		msgs: msgs, report: report, left: len(msgs),
		state: make([]messageState, len(msgs)), subject: make([]string, len(msgs)),
	}
	c.over, c.finish = context.WithCancel(context.WithoutCancel(ctx))
	return c
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
func (c *call) sending(i int, subject string) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.msgs == nil {
		return false
	}
	c.state[i], c.subject[i] = sent, subject
	return true
}

// settle gives message i its fate, unless it has one.
func (c *call) settle(i int, r broker.Result) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.settleLocked(i, r)
}

func (c *call) settleLocked(i int, r broker.Result) {
	switch c.state[i] {
	case settled:
		return
	case sent, unheard, repeated:
		<-c.d.slots
	case waiting:
	}
	c.state[i] = settled
	c.report(i, r)
	if c.left--; c.left == 0 {
		c.msgs, c.report = nil, nil
		c.finish()
	}
}

// end gives every message that has no fate one of these: what was sent, and what
// was not. It says whether an answer was still out. A call that is over is left
// as it is.
func (c *call) end(unanswered, unsent *broker.Error) (out bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for i, state := range c.state {
		switch state {
		case waiting:
			c.settleLocked(i, result(unsent))
		case unheard:
			c.settleLocked(i, result(topicFailure(broker.Unavailable, "nobody heard the message", "look whether the stream is there")))
		case sent:
			out = true
			if c.strange {
				unanswered = failure(broker.Unknown, "something that is no stream answered, and no stream did",
					"look who else listens to the topic's subject")
			}
			c.settleLocked(i, result(unanswered))
		case repeated:
			c.settleLocked(i, result(errNotCompared()))
		case settled:
		}
	}
	return out
}

// answered takes in what came for message i.
func (c *call) answered(i int, a answer) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if i >= len(c.state) || c.state[i] == settled {
		return
	}
	switch a.kind {
	case acknowledged:
		if a.copy == (place{}) {
			c.settleLocked(i, broker.Result{Outcome: broker.Accepted})
			return
		}
		c.foundLocked(i, a.copy)
	case refused:
		f := refusal(a.err)
		if f.Outcome != broker.Rejected {
			c.d.streams.forget()
		}
		c.settleLocked(i, result(f))
	case nobody:
		c.state[i] = unheard
		c.wakeUp()
	case foreign:
		c.strange = true
	}
}

// wakeUp has the worker look at what it has to judge.
func (c *call) wakeUp() {
	select {
	case c.wake <- struct{}{}:
	default:
	}
}

// those returns the messages in a state, by subject.
func (c *call) those(state messageState) map[string][]int {
	c.mu.Lock()
	defer c.mu.Unlock()
	found := map[string][]int{}
	for i, s := range c.state {
		if s == state {
			found[c.subject[i]] = append(found[c.subject[i]], i)
		}
	}
	return found
}

// work sends the messages and stays until each has its fate.
func (c *call) work() {
	defer c.d.calls.End(c.number)
	defer c.finish()
	ctx, cancel := context.WithCancel(c.ctx)
	defer cancel()
	defer context.AfterFunc(c.over, cancel)()
	if f := c.ready(ctx); f != nil {
		f = c.orNotInTime(f)
		c.end(f, f)
		return
	}
	c.before = c.d.nc.LastError()
	w := worker{
		call: c, headers: newHeaders(c.d.pass),
		maxPayload: int(c.d.nc.MaxPayload()), look: time.NewTicker(lookInterval),
	}
	defer w.look.Stop()
	w.sendAll(ctx)
	w.await(ctx, nil)
}

// orNotInTime is f, unless it came of the call's context: then the context is why
// nothing was sent.
func (c *call) orNotInTime(f *broker.Error) *broker.Error {
	if f.Outcome != broker.Rejected && c.ctx.Err() != nil {
		return errNotInTime()
	}
	return f
}

// ready says why the call cannot be made.
func (c *call) ready(ctx context.Context) *broker.Error {
	if f := c.d.connected(); f != nil {
		return f
	}
	return c.d.inbox.open(ctx)
}
