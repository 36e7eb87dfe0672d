package relay_test

import (
	"context"
	"sync/atomic"
	"testing"
	"time"

	"github.com/postbag/postbag/broker/membroker"
	"github.com/postbag/postbag/relay"
	"github.com/postbag/postbag/store"
	"github.com/postbag/postbag/store/memstore"
)

// slowToReshape is a store for which a change of shards is too much work to be
// done within a heartbeat, until it is not.
type slowToReshape struct {
	*memstore.Store
	quick atomic.Bool
	asked atomic.Int64
}

func (s *slowToReshape) Beat(ctx context.Context, b store.Beat) (store.View, error) {
	if len(b.Reshape) > 0 {
		s.asked.Add(1)
		if !s.quick.Load() {
			<-ctx.Done()
			return store.View{}, ctx.Err()
		}
	}
	return s.Store.Beat(ctx, b)
}

// With 44,000 parked messages MariaDB took longer for a change of shards than the
// relays' heartbeats lived: they asked for it again and again, and sent nothing.
func TestMessagesAreDeliveredThoughAChangeOfShardsTakesLongerThanAHeartbeat(t *testing.T) {
	t.Parallel()
	w := newWorld(t, memstore.Options{}, membroker.Options{})
	s := &slowToReshape{Store: w.store}
	r, err := relay.New(s, relay.Options{Name: "r", TTL: time.Second, Subscriptions: []relay.Subscription{{To: w.to}}})
	if err != nil {
		t.Fatal(err)
	}
	stop := w.run(r)
	w.publish(100, 10)
	w.delivered(100)
	ref := store.Ref{Box: "outbox", Subscription: "default"}
	if err := w.store.SetShards(t.Context(), store.Audit{Who: "test", Why: "size"}, ref, 7); err != nil {
		t.Fatal(err)
	}
	w.eventually("the change was tried", func() bool { return s.asked.Load() > 0 })
	for range 3 { // however often it is tried
		w.publish(100, 10)
		w.delivered(w.total())
	}
	s.quick.Store(true)
	w.eventually("the shards are there", func() bool { return len(w.overview().Shards) == 7 })
	w.publish(100, 10)
	w.delivered(w.total())
	stop()
	w.inOrder()
}
