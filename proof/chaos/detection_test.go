package chaos_test

import (
	"context"
	"database/sql"
	"errors"
	"sync/atomic"
	"testing"
	"time"

	"github.com/postbag/postbag/broker"
	"github.com/postbag/postbag/inbox"
	"github.com/postbag/postbag/proof/chaos"
	"github.com/postbag/postbag/proof/chaos/adapters"
	"github.com/postbag/postbag/proof/history"
	"github.com/postbag/postbag/store/memstore"
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

// careless is a store adapter whose handler writes the row in a transaction of its own: an attempt that fails leaves it there.
type careless struct{ adapters.SQLite }

func (careless) Name() string { return "careless" }

func (c careless) Consume(ctx context.Context, dsn string, what *chaos.Consumption) error {
	db, err := sql.Open("sqlite", "file:"+dsn+"?_pragma=busy_timeout(10000)")
	if err != nil {
		return err
	}
	defer func() { _ = db.Close() }() // the process ends
	in, err := inbox.NewConsumer(inbox.ConsumerOptions[*memstore.Tx]{
		Store: memstore.New(memstore.Options{}), Source: what.Source, Consumer: chaos.ConsumerName, Retry: inbox.Retry{Min: 10 * time.Millisecond},
		Handle: func(ctx context.Context, _ *memstore.Tx, m *inbox.Message) error {
			e := what.Effect(m)
			_, err := db.ExecContext(ctx, `INSERT INTO effects (id, k, digest, applied) VALUES (?, ?, ?, ?)`, e.ID, e.Key, e.Sum, int64(e.At))
			return errors.Join(err, what.After(ctx, m))
		},
	})
	if err != nil {
		return err
	}
	return in.Run(ctx)
}

func TestAConsumerThatAppliesMessagesTwiceIsDetected(t *testing.T) {
	t.Parallel()
	r, err := chaos.Run(t.Context(), chaos.Options{
		Store: careless{}, Broker: adapters.NATS{}, Inbox: true, For: 4 * time.Second, Rate: 200, Only: []string{"SIGTERM of a consumer"},
		Seed: 1, Dir: t.TempDir(), Log: &logged{t: t},
	})
	if err != nil {
		t.Fatal(err)
	}
	if v := r.History.Of(history.Applied); r.OK || v.Held || v.N("beyond the first") == 0 {
		t.Errorf("what the consumer did wrong was not found:\n%v", r.History)
	}
}

// found wants a promise to be seen broken though no fault comes that breaks anything.
func found(t *testing.T, b chaos.Broker, p history.Promise) {
	t.Helper()
	if r := here(t, chaos.Options{Broker: b, For: 4 * time.Second, Rate: 400, Only: []string{"shards set"}}); r.OK || r.History.Of(p).Held {
		t.Errorf("what the destination did wrong was not found:\n%v", r.History)
	}
}

var _ chaos.Broker = faulty{}
