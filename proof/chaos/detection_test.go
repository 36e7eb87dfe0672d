package chaos_test

import (
	"context"
	"sync/atomic"
	"testing"
	"time"

	"github.com/postbag/postbag/broker"
	"github.com/postbag/postbag/proof/chaos"
	"github.com/postbag/postbag/proof/chaos/adapters"
	"github.com/postbag/postbag/proof/history"
)

// faulty is a broker adapter of somebody else, whose destination does something else than it should each time after so many calls.
type faulty struct {
	adapters.Webhook

	name  string
	every int64
	wrong func(ctx context.Context, to broker.Destination, msgs []broker.Delivery, report func(i int, r broker.Result))
}

// forgetful says of some messages that they are accepted and sends them not.
var forgetful = faulty{name: "forgetful", every: 200, wrong: func(_ context.Context, _ broker.Destination, msgs []broker.Delivery, report func(i int, r broker.Result)) {
	for i := range msgs {
		report(i, broker.Result{Outcome: broker.Accepted})
	}
}}

// hasty sends some messages twice, and says so only once.
var hasty = faulty{name: "hasty", every: 100, wrong: func(ctx context.Context, to broker.Destination, msgs []broker.Delivery, report func(i int, r broker.Result)) {
	broker.Publish(ctx, to, msgs)
	to.Publish(ctx, msgs, report)
}}

func (f faulty) Name() string { return f.name }

func (f faulty) Open(ctx context.Context, dsn string) (broker.Destination, error) {
	d, err := f.Webhook.Open(ctx, dsn)
	return &misdoer{Destination: d, faulty: f}, err
}

// misdoer is a destination of a faulty broker.
type misdoer struct {
	broker.Destination

	faulty faulty
	count  atomic.Int64
}

func (m *misdoer) Publish(ctx context.Context, msgs []broker.Delivery, report func(i int, r broker.Result)) {
	if m.count.Add(1)%m.faulty.every == 0 {
		m.faulty.wrong(ctx, m.Destination, msgs, report)
		return
	}
	m.Destination.Publish(ctx, msgs, report)
}

func TestADestinationThatLosesMessagesIsDetected(t *testing.T) {
	t.Parallel()
	found(t, forgetful, history.Lost)
}

func TestADestinationThatRepeatsMessagesIsDetected(t *testing.T) {
	t.Parallel()
	found(t, hasty, history.Duplicates)
}

// found wants a promise to be seen broken though no fault comes that breaks anything.
func found(t *testing.T, b chaos.Broker, p history.Promise) {
	t.Helper()
	if r := here(t, chaos.Options{Broker: b, For: 4 * time.Second, Rate: 400, Only: []string{"shards set"}}); r.OK || r.History.Of(p).Held {
		t.Errorf("what the destination did wrong was not found:\n%v", r.History)
	}
}

var _ chaos.Broker = faulty{}
