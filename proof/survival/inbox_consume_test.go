package survival

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/postbag/postbag/broker/natsbroker"
	"github.com/postbag/postbag/inbox"
	"github.com/postbag/postbag/source"
	"github.com/postbag/postbag/source/sourcekit"
	"github.com/postbag/postbag/store/pgstore"
)

// A consumer that dies between its commit and its ack gets the messages again, and so does the one that takes over: the table of effects has
// each once, those of a subject in the order of the stream, although subjects run side by side.
func TestConsumersWithAHandlerThatAreKilledApplyEachMessageOnceAndInOrder(t *testing.T) { //nolint:paralleltest // it has the machine to itself
	w := newWorld(t)
	n := size(50_000)
	w.exec(`create table effects (id text not null, key text not null, number integer not null, at bigserial)`)
	w.fillStream(n, 50)
	kills := w.killConsumers("handle", n, w.effects)
	w.awaitIdle(3*time.Minute, func() bool { return w.effects() >= n })
	t.Logf("%d messages were applied while %d consumers were killed", n, kills)
	if kills < 3 {
		t.Errorf("only %d consumers were killed: nothing was shown", kills)
	}
	rows, err := w.pool.Query(t.Context(), `select key, number from effects order by at`)
	if err != nil {
		t.Fatal(err)
	}
	w.eachOnceAndInOrder(rows, n)
}

// handleAll applies what the stream has: a row in the table of effects, in the transaction of the mark.
func handleAll(ctx context.Context, s *pgstore.Store, url string) error {
	src, err := natsbroker.OpenSource(ctx, natsbroker.SourceOptions{
		URL: url, Stream: stream, Consumer: "billing", Order: source.OrderStream, AckWait: ackWait, MaxUnacked: 2000,
	})
	if err != nil {
		return err
	}
	c, err := inbox.NewConsumer(inbox.ConsumerOptions[pgx.Tx]{
		Store: s, Source: src, Consumer: "billing", Concurrency: 4,
		Keys: sourcekit.Keys{func(m *source.Message) string { return m.Topic }},
		Handle: func(ctx context.Context, tx pgx.Tx, m *inbox.Message) error {
			_, err := tx.Exec(ctx, `insert into effects (id, key, number) values ($1, $2, $1::text::integer)`, string(m.Payload), m.Key)
			return err
		},
	})
	if err != nil {
		return fmt.Errorf("consume: %w", err)
	}
	return c.Run(ctx)
}
