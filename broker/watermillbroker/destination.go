package watermillbroker

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/ThreeDotsLabs/watermill/message"

	"github.com/postbag/postbag/broker"
	"github.com/postbag/postbag/broker/brokerkit"
)

// Destination delivers through a Watermill publisher. It is safe for concurrent
// use.
type Destination struct {
	to      message.Publisher
	options Options
	running chan struct{}
	guard   brokerkit.CallGuard // calls, and what they left with the publisher
}

var _ broker.Destination = (*Destination)(nil)

// New returns a destination over p, which stays the caller's: Close leaves it open.
// An error names every fault of the options.
func New(p message.Publisher, o Options) (*Destination, error) {
	err := o.Validate()
	if p == nil {
		err = errors.Join(err, errors.New("watermillbroker: the publisher is nil; give New one"))
	}
	if err != nil {
		return nil, err
	}
	d := &Destination{to: p, options: o.withDefaults()}
	d.running = make(chan struct{}, d.options.Concurrency)
	return d, nil
}

// Features says that nothing keeps a repeated message out, nor an order within a
// call: Watermill promises neither of a publisher.
func (d *Destination) Features() broker.Features {
	return broker.Features{MaxBatch: d.options.Batch, Binding: d.options.Binding}
}

// Close implements broker.Destination. It waits for calls of the publisher that
// have not returned, also those that nobody waits for any more. The publisher stays
// open; while it is stuck only closing it helps.
func (d *Destination) Close(ctx context.Context) error {
	if err := d.guard.Shut(ctx); err != nil {
		return fmt.Errorf("watermillbroker: close: the publisher has not returned: %w; close it, or give Close more time", err)
	}
	return nil
}

// Publish implements broker.Destination. The calls of the publisher run side by
// side, unless a key is there twice: then one after another, and what is behind a
// message of its key that was not accepted is NotSent. The context of each message
// is ctx.
func (d *Destination) Publish(ctx context.Context, msgs []broker.Delivery, report func(i int, r broker.Result)) {
	switch {
	case len(msgs) == 0:
		return
	case !d.guard.Enter():
		brokerkit.ReportAll(msgs, report, broker.Result{Outcome: broker.NotSent, Err: broker.ErrClosed})
		return
	}
	defer d.guard.Leave()
	calls := d.plan(ctx, msgs)
	switch {
	case len(calls) == 1:
		calls[0].give(report, d.send(ctx, calls[0]))
	case repeatsKey(msgs):
		d.inOrder(ctx, calls, msgs, report)
	default:
		var running sync.WaitGroup
		for _, c := range calls {
			running.Go(func() { c.give(report, d.send(ctx, c)) })
		}
		running.Wait()
	}
}
