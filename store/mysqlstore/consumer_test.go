package mysqlstore_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/postbag/postbag"
	"github.com/postbag/postbag/inbox"
	"github.com/postbag/postbag/source"
	"github.com/postbag/postbag/source/memsource"
)

// Two handlers lock two rows, each in the other's sequence. They know nothing of deadlocks, and return what the driver says.
func TestAHandlerThatADeadlockEndedRunsAgainAndIsNotCounted(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t *testing.T, k *kind) {
		t.Helper()
		s := newTestBox(t, k)
		for _, text := range []string{"CREATE TABLE account (id INT PRIMARY KEY, n INT NOT NULL) ENGINE = InnoDB", "INSERT INTO account VALUES (1, 0), (2, 0)"} {
			_, err := s.plain.ExecContext(t.Context(), text)
			s.Must(err)
		}
		var both sync.WaitGroup
		both.Add(2)
		var calls, deadlocks atomic.Int64
		broker := memsource.New(memsource.Options{})
		c, err := inbox.NewConsumer(inbox.ConsumerOptions[postbag.SQLTx]{
			Store: s.Store, Source: broker.Join("billing"), Consumer: "billing", Box: "outbox", Retry: inbox.Retry{MaxAttempts: 1},
			Handle: func(ctx context.Context, tx postbag.SQLTx, m *inbox.Message) error {
				rows := map[string][]int{"a": {1, 2}, "b": {2, 1}}[m.Key]
				first := calls.Add(1) <= 2
				for i, row := range rows {
					if i == 1 && first { // both have their first row
						both.Done()
						both.Wait()
					}
					if _, err := tx.ExecContext(ctx, fmt.Sprintf("UPDATE account SET n = n + 1 WHERE id = %d", row)); err != nil {
						return fmt.Errorf("charge: %w", err)
					}
				}
				return nil
			},
			OnError: func(err error) {
				if strings.Contains(err.Error(), "1213") {
					deadlocks.Add(1)
				}
			},
		})
		s.Must(err)
		s.Must(broker.Publish(source.Message{Key: "a", MessageID: "1"}, source.Message{Key: "b", MessageID: "2"}))
		ctx, stop := context.WithCancel(t.Context())
		ended := make(chan error, 1)
		go func() { ended <- c.Run(ctx) }()
		waited := broker.WaitUntilAcked(t.Context(), "billing")
		stop()
		s.Must(errors.Join(waited, <-ended))
		if st := c.Stats(); st.Applied != 2 || st.Failed != 0 || st.Parked != 0 || deadlocks.Load() == 0 {
			t.Errorf("with %d deadlocks it counted %+v", deadlocks.Load(), st)
		}
		var sum int
		s.Must(s.plain.QueryRowContext(t.Context(), "SELECT SUM(n) FROM account").Scan(&sum))
		if sum != 4 {
			t.Errorf("the effects are %d, not 4", sum)
		}
	})
}

func TestAConsumerWhoseBoxIsMissingSaysHowToMakeIt(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t *testing.T, k *kind) {
		t.Helper()
		s := newTestBox(t, k)
		c, err := inbox.NewConsumer(inbox.ConsumerOptions[postbag.SQLTx]{
			Store: s.Store, Source: memsource.New(memsource.Options{}).Join("billing"), Consumer: "billing", Box: "aside",
			Handle: func(context.Context, postbag.SQLTx, *inbox.Message) error { return nil },
		})
		s.Must(err)
		if err := c.Run(t.Context()); !errors.Is(err, postbag.ErrNoBox) || !strings.Contains(err.Error(), "postbag migrate up --box") {
			t.Errorf("Run returned %v", err)
		}
	})
}
