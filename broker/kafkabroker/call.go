package kafkabroker

import (
	"context"

	"github.com/postbag/postbag/broker"
	"github.com/postbag/postbag/broker/brokerkit"
)

// call is one Publish: who is waiting for which answer. Answers come from a job.
type call struct {
	brokerkit.Ledger

	over   context.Context //nolint:containedctx // done when every message has its fate
	finish context.CancelFunc
}

func newCall(ctx context.Context, msgs []broker.Delivery, report func(i int, r broker.Result)) *call {
	c := new(call)
	c.over, c.finish = context.WithCancel(context.WithoutCancel(ctx))
	c.Open(msgs, report, c.finish, nil)
	return c
}
