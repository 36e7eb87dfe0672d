package membroker

import (
	"context"
	"sync/atomic"

	"github.com/postbag/postbag/broker"
)

// Null returns a destination that accepts everything, keeps nothing and costs
// next to nothing. It declares itself ordered.
func Null() broker.Destination { return &null{} }

type null struct{ closed atomic.Bool }

func (n *null) Publish(_ context.Context, msgs []broker.Delivery, report func(i int, r broker.Result)) {
	result := broker.Result{Outcome: broker.Accepted}
	if n.closed.Load() {
		result = broker.Result{Outcome: broker.NotSent, Err: broker.ErrClosed}
	}
	for i := range msgs {
		report(i, result)
	}
}

func (n *null) Features() broker.Features { return broker.Features{Ordered: true} }

func (n *null) Close(context.Context) error {
	n.closed.Store(true)
	return nil
}
