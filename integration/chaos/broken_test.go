package chaos_test

import (
	"context"
	"sync/atomic"
	"testing"

	"github.com/postbag/postbag/broker"
	"github.com/postbag/postbag/integration/chaos"
	"github.com/postbag/postbag/integration/chaos/adapters"
	"github.com/postbag/postbag/internal/history"
)

// forgetful is a broker adapter of somebody else, whose destination says of some messages that they are accepted and sends them not.
type forgetful struct{ adapters.Webhook }

func (forgetful) Name() string { return "forgetful" }

func (f forgetful) Open(ctx context.Context, dsn string) (broker.Destination, error) {
	d, err := f.Webhook.Open(ctx, dsn)
	return &losing{Destination: d}, err
}

type losing struct {
	broker.Destination

	count atomic.Int64
}

func (l *losing) Publish(ctx context.Context, msgs []broker.Delivery, results []broker.Result) {
	if l.count.Add(1)%200 != 0 {
		l.Destination.Publish(ctx, msgs, results)
		return
	}
	for i := range results {
		results[i].Outcome = broker.Accepted
	}
}

func TestADestinationThatLosesMessagesIsFoundOut(t *testing.T) {
	t.Parallel()
	if r := found(t, forgetful{}); r.History.Of(history.Lost).Held {
		t.Errorf("what was lost was not found:\n%v", r.History)
	}
}

// hasty is one that sends every message twice, and says so only once.
type hasty struct{ adapters.Webhook }

func (hasty) Name() string { return "hasty" }

func (h hasty) Open(ctx context.Context, dsn string) (broker.Destination, error) {
	d, err := h.Webhook.Open(ctx, dsn)
	return &repeating{Destination: d}, err
}

type repeating struct {
	broker.Destination

	count atomic.Int64
}

func (r *repeating) Publish(ctx context.Context, msgs []broker.Delivery, results []broker.Result) {
	if r.count.Add(1)%100 == 0 {
		r.Destination.Publish(ctx, msgs, make([]broker.Result, len(results)))
	}
	r.Destination.Publish(ctx, msgs, results)
}

func TestADestinationThatRepeatsMessagesIsFoundOut(t *testing.T) {
	t.Parallel()
	if r := found(t, hasty{}); r.History.Of(history.Duplicates).Held {
		t.Errorf("what came twice was not found:\n%v", r.History)
	}
}

var (
	_ chaos.Broker = forgetful{}
	_ chaos.Broker = hasty{}
)
