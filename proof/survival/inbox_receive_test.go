package survival

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/postbag/postbag"
	"github.com/postbag/postbag/broker/natsbroker"
	"github.com/postbag/postbag/inbox"
	"github.com/postbag/postbag/proof/history"
	"github.com/postbag/postbag/source"
)

// A receiver that dies between its commit and its ack gets the messages again, and so does the one that takes over: the box holds each
// once, those of a subject in the order of the stream.
func TestReceiversThatAreKilledStoreEachMessageOnceAndInOrder(t *testing.T) { //nolint:paralleltest // it has the machine to itself
	w := newWorld(t)
	if err := w.store.CreateBox(t.Context(), "inbox"); err != nil {
		t.Fatal(err)
	}
	n := size(50_000)
	w.fillStream(n, 50)
	kills := w.killConsumers("receive", n, w.received)
	w.awaitReceived(n, 3*time.Minute)
	t.Logf("%d messages were stored while %d receivers were killed", n, kills)
	if kills < 3 {
		t.Errorf("only %d receivers were killed: nothing was shown", kills)
	}
	judgeEffects(t, n, 50, history.OnceInOrder, w.effectsIn(`select key, convert_from(payload, 'UTF8')::integer from postbag.inbox order by seq`))
}

// awaitReceived waits until the box holds n messages and the broker waits for no acknowledgement. How often it delivered one it does not
// say: its count begins again when another member takes over.
func (w *world) awaitReceived(n int, within time.Duration) {
	w.t.Helper()
	w.awaitIdle(within, func() bool { return w.received() >= n })
}

// awaitIdle waits until the broker has nothing left for the consumers, and a condition holds.
func (w *world) awaitIdle(within time.Duration, holds func() bool) {
	w.t.Helper()
	w.jetstream(func(ctx context.Context, js jetstream.JetStream) error {
		w.eventually(within, "all messages are done and acknowledged", func() bool {
			c, err := js.Consumer(ctx, stream, "billing")
			if err != nil {
				return false
			}
			i := c.CachedInfo()
			return i.NumPending == 0 && i.NumAckPending == 0 && holds()
		})
		return nil
	})
}

// received returns how many messages the inbox holds, or none while the database is away.
func (w *world) received() (n int) {
	_ = w.pool.QueryRow(w.t.Context(), `select count(*) from postbag.inbox`).Scan(&n) // the database may be away
	return n
}

// receive stores what the stream has in the box.
func receive[Tx any](ctx context.Context, s inbox.Store[Tx], url string) error {
	src, err := natsbroker.OpenSource(ctx, natsbroker.SourceOptions{
		URL: url, Stream: stream, Consumer: "billing", Order: source.OrderStream, AckWait: ackWait, MaxUnacked: 2000,
	})
	if err != nil {
		return err
	}
	r, err := inbox.NewReceiver(inbox.ReceiverOptions[Tx]{
		Store: s, Source: src, Messages: 200,
		Edit: func(out *postbag.Message, from *source.Message) error {
			out.Key = from.Topic
			return nil
		},
	})
	if err != nil {
		return fmt.Errorf("receive: %w", err)
	}
	return r.Run(ctx)
}
