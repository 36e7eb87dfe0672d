package membroker

import (
	"context"
	"sync"

	"github.com/postbag/postbag/broker"
	"github.com/postbag/postbag/internal/gate"
)

// Destination is a client of a broker in memory, and the view of what that
// broker holds. It is safe for concurrent use, and its view lasts after Close.
type Destination struct {
	state *state
	gate  gate.Gate
}

var (
	_ broker.Destination   = (*Destination)(nil)
	_ broker.Prober        = (*Destination)(nil)
	_ broker.Transactional = (*Destination)(nil)
)

// New makes a broker and a first client of it.
func New(o Options) *Destination { return &Destination{state: newState(o)} }

// Connect returns a further client of the same broker, with a life of its own,
// open even if d is closed.
func (d *Destination) Connect() *Destination { return &Destination{state: d.state} }

// Publish implements broker.Destination: a message that Options.Decide delays or
// holds keeps back, in its call, only the later ones of its key, and these only
// if Options.Ordered.
func (d *Destination) Publish(ctx context.Context, msgs []broker.Delivery, report func(i int, r broker.Result)) {
	if !d.gate.Enter() {
		for i := range msgs {
			report(i, broker.Result{Outcome: broker.NotSent, Err: broker.ErrClosed})
		}
		return
	}
	defer d.gate.Leave()
	c := call{ctx: ctx, state: d.state, msgs: msgs, report: report, number: d.state.begin(), lanes: map[string]*lane{}}
	c.run()
}

// Features implements broker.Destination.
func (d *Destination) Features() broker.Features {
	o := d.state.options
	f := broker.Features{Ordered: o.Ordered, MaxBytes: o.MaxBytes, MaxBatch: o.MaxBatch, Binding: o.Binding, Transactions: o.Transactions}
	if o.Fence {
		f.Fences = "id"
	}
	return f
}

// Probe implements broker.Prober.
func (d *Destination) Probe(ctx context.Context) error {
	if d.gate.IsShut() {
		return &broker.Error{Outcome: broker.Unavailable, Err: broker.ErrClosed}
	}
	if err := ctx.Err(); err != nil {
		return &broker.Error{Outcome: broker.Unavailable, Err: err}
	}
	d.state.mu.Lock()
	defer d.state.mu.Unlock()
	if d.state.down {
		return &broker.Error{Outcome: broker.Unavailable, Err: errDown}
	}
	return nil
}

// Close implements broker.Destination. The broker and its other clients go on.
func (d *Destination) Close(ctx context.Context) error { return d.gate.Shut(ctx) }

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
