package natsbroker

import (
	"context"
	"sync"
	"time"

	"github.com/postbag/postbag/broker"
	"github.com/postbag/postbag/broker/brokerkit"
)

// call is one Publish at work. Its worker sends and looks after what is
// late; answers come from the inbox; the one that ends it, by the last answer, by its
// context, by the loss of the connection, ends it for all.
type call struct {
	brokerkit.Ledger

	d      *Destination
	number uint64
	ctx    context.Context //nolint:containedctx // it lives as long as the call
	over   context.Context //nolint:containedctx // done when every message has its fate
	finish context.CancelFunc
	began  time.Time
	before error // the connection's last error when the call began

	wake chan struct{} // a message was heard by nobody, or taken for a repeat

	mu      sync.Mutex // before the ledger's own
	subject []string   // of messages sent
	strange bool       // something that is no stream answered
	repeats map[int]*repeat
}

// What is told apart of a message that was sent.
const (
	unheard  = brokerkit.Sent + 1 // nobody was there to hear it
	repeated = brokerkit.Sent + 2 // the stream says that it has it; whether it has is looked up
)

func newCall(ctx context.Context, d *Destination, msgs []broker.Delivery, report func(i int, r broker.Result)) *call {
	c := &call{d: d, ctx: ctx, began: time.Now(), wake: make(chan struct{}, 1), subject: make([]string, len(msgs))}
	c.over, c.finish = context.WithCancel(context.WithoutCancel(ctx))
	c.Open(msgs, report, c.finish, func(_ int, was brokerkit.State) {
		if was != brokerkit.Waiting {
			<-d.slots
		}
	})
	return c
}

// sending marks message i as sent, which it is from now on for all we know,
// unless the call is over.
func (c *call) sending(i int, subject string) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.subject[i] = subject
	return c.Sending(i)
}

// end gives every message that has no fate one of these: what was sent, and what
// was not. It says whether an answer was still out. A call that is over is left
// as it is.
func (c *call) end(unanswered, unsent *broker.Error) (out bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.EndEach(func(_ int, s brokerkit.State) *broker.Error {
		switch {
		case s == brokerkit.Waiting:
			return unsent
		case s == unheard:
			return adapter.TopicFailure(broker.Unavailable, "nobody heard the message", "look whether the stream is there")
		case s == repeated:
			return errNotCompared()
		}
		out = true
		if c.strange {
			return adapter.Failure(broker.Unknown, "something that is no stream answered, and no stream did",
				"look who else listens to the topic's subject")
		}
		return unanswered
	})
	return out
}

// answered takes in what came for message i.
func (c *call) answered(i int, a answer) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if i >= c.Len() || c.State(i) == brokerkit.Answered {
		return
	}
	switch a.kind {
	case acknowledged:
		if a.copy == (place{}) {
			c.Answer(i, broker.Result{Outcome: broker.Accepted})
			return
		}
		c.foundLocked(i, a.copy)
	case refused:
		f := refusal(a.err)
		if f.Outcome != broker.Rejected {
			c.d.streams.forget()
		}
		c.Answer(i, brokerkit.Result(f))
	case nobody:
		c.Mark(i, unheard)
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
func (c *call) those(state brokerkit.State) map[string][]int {
	c.mu.Lock()
	defer c.mu.Unlock()
	found := map[string][]int{}
	for i := range c.Len() {
		if c.State(i) == state {
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
		return adapter.NotInTime()
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
