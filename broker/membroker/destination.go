package membroker

import (
	"context"

	"github.com/postbag/postbag/broker"
	"github.com/postbag/postbag/broker/brokerkit"
)

// Destination is a client of a broker in memory, and the view of what that
// broker holds. It is safe for concurrent use, and its view lasts after Close.
type Destination struct {
	state *state
	guard brokerkit.CallGuard
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
	if !d.guard.Enter() {
		brokerkit.ReportAll(msgs, report, broker.Result{Outcome: broker.NotSent, Err: broker.ErrClosed})
		return
	}
	defer d.guard.Leave()
	c := call{ctx: ctx, state: d.state, msgs: msgs, report: report, number: d.state.begin(), sequences: map[string]*sequence{}}
	c.run()
}

// Features implements broker.Destination.
func (d *Destination) Features() broker.Features {
	o := d.state.options
	f := broker.Features{Ordered: o.Ordered, MaxBytes: max(o.MaxBytes, 0), MaxBatch: max(o.MaxBatch, 0), Binding: o.Binding, Transactions: o.Transactions}
	if o.Fence {
		f.Fences = "id"
	}
	return f
}

// Close implements broker.Destination. The broker and its other clients go on.
func (d *Destination) Close(ctx context.Context) error { return d.guard.Shut(ctx) }
