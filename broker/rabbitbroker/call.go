package rabbitbroker

import (
	"context"
	"sync"

	amqp "github.com/rabbitmq/amqp091-go"

	"github.com/postbag/postbag/broker"
	"github.com/postbag/postbag/broker/brokerkit"
)

// call is one Publish at work. Lanes send its messages and bring the
// answers; the one that ends it, by the last answer or by its context, ends it for all.
type call struct {
	brokerkit.Ledger

	d    *Destination
	over chan struct{} // closed when every message has its fate

	mu    sync.Mutex // before the ledger's own
	items []item
}

// item is one message of a call.
type item struct {
	call          *call
	index         int
	pipeline      *pipeline
	exchange, key string // where it goes
	id            string // its message-id
	size          int    // of its payload

	// The call's, under its lock.
	tried bool          // it went out once, and may be stored
	last  *broker.Error // the answer of that time, if there was one

	// The pipeline's, under its lock.
	confirm *amqp.DeferredConfirmation // nil until it was published
	flying  bool                       // in pipeline.flight
	left    bool                       // its call has ended without its answer
	back    bool                       // the server returned it
	nacks   int
}

func newCall(d *Destination, msgs []broker.Delivery, report func(i int, r broker.Result)) *call {
	c := &call{d: d, over: make(chan struct{}), items: make([]item, len(msgs))}
	for i := range c.items {
		c.items[i].call, c.items[i].index = c, i
	}
	c.Open(msgs, report, func() { close(c.over) }, nil)
	return c
}

// sending marks an item as sent, which it is from now on for all we know, and
// returns its message, unless it has its fate. before says whether it went out at
// another time.
func (c *call) sending(it *item) (m broker.Delivery, before, ok bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if m, ok = c.Message(it.index); !ok || !c.Sending(it.index) {
		return m, false, false
	}
	before = it.tried
	it.tried, it.last = true, nil
	return m, before, true
}

// again makes an item one that waits: with what it was answered, nil when its fate
// is not known. It says whether that is still of use.
func (c *call) again(it *item, answer *broker.Error) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.Mark(it.index, brokerkit.Waiting) {
		return false
	}
	it.last = answer
	return true
}

// unsent takes back sending: the client did not let the message out.
func (c *call) unsent(it *item, before bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.State(it.index) == brokerkit.Sent && c.Mark(it.index, brokerkit.Waiting) {
		it.tried = before
	}
}

// answer gives an item its fate, unless it has one.
func (c *call) answer(it *item, r broker.Result) { c.Answer(it.index, r) }

// refuse settles an item that waits because of f, which is not all the truth for
// one that went out before.
func (c *call) refuse(it *item, f *broker.Error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.answer(it, brokerkit.Result(it.refused(f, adapter.NoAnswer())))
}

// refused is the fate of an item that waits. The caller has the call's lock.
func (it *item) refused(unsent, unanswered *broker.Error) *broker.Error {
	switch {
	case !it.tried:
		return unsent
	case it.last != nil:
		return it.last
	default:
		return unanswered
	}
}

// end gives every message that has no fate one of these: what went out, and what
// did not. A call that is over is left as it is.
func (c *call) end(unanswered, unsent *broker.Error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.EndEach(func(i int, s brokerkit.State) *broker.Error {
		it := &c.items[i]
		if s == brokerkit.Waiting {
			return it.refused(unsent, unanswered)
		}
		it.pipeline.leave(it)
		return unanswered
	})
}

// dispatch hands the messages, as far as prepare finds them good, to their pipelines. It
// does not wait.
func (c *call) dispatch(ctx context.Context, msgs []broker.Delivery, prepare func(m *broker.Delivery, it *item) *broker.Error) {
	pipelines := make([][]*item, len(c.d.pipelines))
	for i := range msgs {
		it := &c.items[i]
		if f := prepare(&msgs[i], it); f != nil {
			c.answer(it, brokerkit.Result(f))
			continue
		}
		n := c.d.pipelineOf(&msgs[i])
		it.pipeline = c.d.pipelines[n]
		pipelines[n] = append(pipelines[n], it)
	}
	for n, items := range pipelines {
		if len(items) > 0 && ctx.Err() == nil {
			c.d.pipelines[n].push(items)
		}
	}
}
