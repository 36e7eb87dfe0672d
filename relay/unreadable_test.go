package relay_test

import (
	"context"
	"errors"
	"log/slog"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/postbag/postbag/broker/membroker"
	"github.com/postbag/postbag/relay"
	"github.com/postbag/postbag/store"
	"github.com/postbag/postbag/store/memstore"
)

// damaged is a store with a row that cannot be read whole, until it is repaired.
type damaged struct {
	*memstore.Store

	payload  string
	repaired atomic.Bool
}

func (s *damaged) damage(r *store.Record) {
	if string(r.Payload) == s.payload && !s.repaired.Load() {
		r.Headers, r.Err = nil, errors.New("headers are no JSON object of strings")
	}
}

func (s *damaged) Turn(ctx context.Context, t store.Turn) (store.TurnResult, error) {
	out, err := s.Store.Turn(ctx, t)
	for i := range out.Batches {
		for k := range out.Batches[i].Records {
			s.damage(&out.Batches[i].Records[k])
		}
	}
	return out, err
}

func (s *damaged) Due(ctx context.Context, d store.Due) ([]store.Parked, error) {
	out, err := s.Store.Due(ctx, d)
	for i := range out {
		s.damage(&out[i].Record)
	}
	return out, err
}

func TestAnUnreadableRowIsRejectedAndNeverSent(t *testing.T) {
	t.Parallel()
	for name, one := range map[string]relay.Subscription{
		"a batch":                {},
		"one a call":             {Batch: 1},
		"in transactions":        {ExactlyOnce: true},
		"an ordered destination": {Batch: 50},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, memstore.Options{}, membroker.Options{Transactions: one.ExactlyOnce, Ordered: name == "an ordered destination" || one.ExactlyOnce})
			s := &damaged{Store: w.store, payload: "key-3/2"}
			w.publish(100, 10)
			one.To = w.to
			one.Retry = relay.Retry{Min: time.Millisecond, Max: time.Millisecond, MaxAttempts: 3}
			log := new(lines)
			r, err := relay.New(s, relay.Options{Subscriptions: []relay.Subscription{one}, Logger: slog.New(slog.NewTextHandler(log, nil))})
			if err != nil {
				t.Fatal(err)
			}
			w.run(r)
			w.delivered(100 - 8)
			w.eventually("the row is dead", func() bool { return w.overview().Parked[store.ParkDead] == 1 })
			w.inOrder("key-3")
			dead := w.dead()
			if dead.Attempts != 3 || !strings.Contains(dead.Reason, "the row cannot be read: headers are no JSON object") {
				t.Errorf("it is dead after %d attempts: %s", dead.Attempts, dead.Reason)
			}
			for _, line := range []string{"a message is rejected, and tried again later", "relay: a message is dead"} {
				if said := log.with(line); len(said) != 1 || !strings.Contains(said[0], dead.ID.String()) || !strings.Contains(said[0], "the row cannot be read") {
					t.Errorf("the log does not say once that %s: %q", line, said)
				}
			}
			s.repaired.Store(true)
			if n, err := w.store.Command(t.Context(), store.Audit{Who: "me", Why: "repaired"}, store.Ref{Box: "outbox", Subscription: "default"}, store.Retry, []int64{dead.Seq}); n != 1 || err != nil {
				t.Fatalf("%d are retried (%v)", n, err)
			}
			w.delivered(100)
			w.inOrder()
		})
	}
}

// dead returns the one message that is dead.
func (w *world) dead() store.Item {
	w.t.Helper()
	items, _, err := w.store.List(w.t.Context(), store.Query{Ref: store.Ref{Box: "outbox", Subscription: "default"}, State: store.StateDead})
	if err != nil || len(items) != 1 {
		w.t.Fatalf("%d messages are dead, not one (%v)", len(items), err)
	}
	return items[0]
}
