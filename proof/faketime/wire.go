package faketime

import (
	"bytes"
	"context"
	"errors"
	"slices"
	"sync/atomic"

	"github.com/postbag/postbag/broker"
	"github.com/postbag/postbag/broker/membroker"
)

// wire is what a process sees of the broker of a line.
type wire struct {
	*membroker.Destination

	process *process
	line    *line
}

var (
	_ broker.Prober        = (*wire)(nil)
	_ broker.Transactional = (*wire)(nil)
)

// wireTo is the destination of a line as the process has it. Some cannot be asked whether they work again.
func (p *process) wireTo(l *line) broker.Destination {
	d := &wire{Destination: l.broker.Connect(), process: p, line: l}
	if !l.exactly && p.chance.one(3) {
		return struct{ broker.Destination }{d}
	}
	return d
}

// breaks has a destination panic, now and then, before it has sent anything. A panic rejects what is in the call.
func (d *wire) breaks(msgs []broker.Delivery) {
	if p := d.process; p.world.isRough() && p.chance.one(100) {
		p.world.excuse("panic", "destination")
		p.world.set(func() {
			for i := range msgs {
				p.world.passes(d.line, msgs[i].ID)
			}
		})
		panic("a destination that is broken")
	}
}

// reported is the answer for one message of a call.
type reported struct {
	i int
	r broker.Result
}

// Publish sends nothing once the process is dead. What was sent is stored, and no answer gets back. It returns when ctx ends.
func (d *wire) Publish(ctx context.Context, msgs []broker.Delivery, report func(i int, r broker.Result)) {
	defer d.process.begin()()
	d.breaks(msgs)
	p := d.process
	msgs = slices.Clone(msgs)
	answers, done := make(chan reported, len(msgs)), make(chan struct{})
	go func() {
		defer close(done)
		if p.pass() {
			ctx, cancel := p.travelling(ctx)
			defer cancel()
			d.Destination.Publish(ctx, msgs, func(i int, r broker.Result) { answers <- reported{i, r} })
			p.pass()
		}
	}()
	for {
		select {
		case a := <-answers:
			if !d.arrives(ctx) {
				return
			}
			report(a.i, a.r)
		case <-ctx.Done():
			return
		case <-p.dead:
			return
		case <-done:
			for len(answers) > 0 && !p.isKilled() {
				a := <-answers
				report(a.i, a.r)
			}
			return
		}
	}
}

// arrives waits until an answer can get to the process, and says whether it does before ctx ends.
func (d *wire) arrives(ctx context.Context) bool {
	p := d.process
	for {
		p.mu.Lock()
		killed, joined := p.killed, p.joined
		p.mu.Unlock()
		if killed || joined == nil {
			return !killed
		}
		select {
		case <-joined:
		case <-p.dead:
		case <-ctx.Done():
			return false
		}
	}
}

// Probe asks the broker whether it works.
func (d *wire) Probe(ctx context.Context) error { return tell(ctx, d.process, d.Destination.Probe) }

// OpenLane opens a lane, which the process may not hear of.
func (d *wire) OpenLane(ctx context.Context, name broker.LaneName) (broker.Lane, error) {
	l, err := request(ctx, d.process, func(ctx context.Context) (broker.Lane, error) { return d.Destination.OpenLane(ctx, name) })
	if err != nil {
		return nil, err
	}
	d.process.lanes.Add(1)
	return &laneWire{Lane: l, wire: d, process: d.process}, nil
}

// laneWire is a lane as its process sees it.
type laneWire struct {
	broker.Lane

	wire    *wire
	process *process
	out     atomic.Bool // a transaction is on its way
	closed  atomic.Bool
}

// outcome is what came of a transaction.
type outcome struct {
	of      broker.TxOutcome
	err     error
	results []broker.Result
}

// Commit sends a transaction, which may be carried out however late.
func (l *laneWire) Commit(ctx context.Context, msgs []broker.Delivery, record []byte, results []broker.Result) (broker.TxOutcome, error) {
	if l.closed.Load() {
		l.process.world.failf("a transaction is sent on a lane that was closed")
	}
	l.wire.breaks(msgs)
	msgs, record = slices.Clone(msgs), bytes.Clone(record)
	l.out.Store(true)
	o, err := request(ctx, l.process, func(ctx context.Context) (outcome, error) {
		defer l.out.Store(false)
		room := make([]broker.Result, len(msgs))
		of, err := l.Lane.Commit(ctx, msgs, record, room)
		return outcome{of, err, room}, nil
	})
	if err != nil {
		return broker.Unresolved, err
	}
	copy(results, o.results)
	return o.of, o.err
}

// Close frees the lane; what is on its way on it stays there.
func (l *laneWire) Close(ctx context.Context) error {
	if l.closed.Swap(true) {
		return nil
	}
	l.process.lanes.Add(-1)
	if l.process.isKilled() || l.out.Load() {
		return errors.Join(ctx.Err())
	}
	return l.Lane.Close(ctx)
}
