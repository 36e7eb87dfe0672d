package relay_test

import (
	"context"
	"errors"
	"slices"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/postbag/postbag/broker"
	"github.com/postbag/postbag/broker/membroker"
	"github.com/postbag/postbag/relay"
	"github.com/postbag/postbag/store"
	"github.com/postbag/postbag/store/memstore"
)

// What Graceful says is what the store shows: a relay that could not give its leases back says that it has not. One that
// stopped just after its database had crashed said that it had: the leases were those of its former identity.
func TestARelayThatCouldNotGiveItsLeasesBackSaysSo(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		fails   []memstore.Op // from then on
		accepts bool          // messages, just before
		crashes bool
		want    bool
	}{
		"all works":                        {want: true},
		"heartbeats fail":                  {fails: []memstore.Op{memstore.OpBeat}},
		"settlements fail":                 {fails: []memstore.Op{memstore.OpTurn}, accepts: true},
		"the database crashed":             {crashes: true, want: true},
		"the database crashed and is away": {crashes: true, fails: []memstore.Op{memstore.OpCheck, memstore.OpBeat}}, // a turn finds out
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				var away atomic.Bool
				w := newWorld(t, memstore.Options{Fault: func(_ context.Context, o memstore.Op) memstore.Fault {
					if away.Load() && slices.Contains(c.fails, o) {
						return memstore.Fault{Err: errors.New("connection refused")}
					}
					return memstore.Fault{}
				}}, membroker.Options{Decide: func(broker.Delivery, int) membroker.Act {
					away.Store(true) // so that what is accepted cannot be settled
					return membroker.Act{}
				}})
				log, r, stop := w.logged(w.store, relay.Options{Grace: 2 * time.Second})
				<-time.After(time.Second)
				if c.accepts {
					w.publish(20, 5)
					<-time.After(100 * time.Millisecond)
				}
				away.Store(true)
				if c.crashes {
					w.store.Crash()
					<-time.After(1100 * time.Millisecond)
				}
				stop()
				owned := 0
				for _, sh := range w.overview().Shards {
					if sh.Owner != "" {
						owned++
					}
				}
				if got := r.Stats().Graceful; got != c.want || got != (owned == 0) {
					t.Errorf("it says graceful: %v, and %d shards are still its own:\n%s", got, owned, log)
				}
			})
		})
	}
}

// While a stop waits for the store, people see what the destination has accepted and nobody has settled: it is no backlog.
func TestTheStoreShowsDuringAStopWhatIsAcceptedAndNotSettled(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var away atomic.Bool
		away.Store(true)
		w := newWorld(t, memstore.Options{}, membroker.Options{})
		_, r, stop := w.logged(&unsettling{Store: w.store, away: &away}, relay.Options{})
		<-time.After(time.Second)
		w.publish(20, 5)
		<-time.After(time.Second)
		ended := make(chan struct{})
		go func() { defer close(ended); stop() }()
		<-time.After(3 * time.Second)
		if c := w.shown(); c.Unsettled != 20 || w.overview().Backlog != 20 {
			t.Errorf("during the stop %d of a backlog of %d are shown as accepted, want all 20", c.Unsettled, w.overview().Backlog)
		}
		away.Store(false)
		<-ended
		if n := w.overview().Backlog; n != 0 || !r.Stats().Graceful {
			t.Errorf("after the stop the backlog is %d", n)
		}
	})
}

// unsettling is a store that settles nothing while away is set.
type unsettling struct {
	store.Store

	away *atomic.Bool
}

func (s *unsettling) Turn(ctx context.Context, t store.Turn) (store.TurnResult, error) {
	if len(t.Settle) > 0 && s.away.Load() {
		return store.TurnResult{}, errors.New("the lock is another's")
	}
	return s.Store.Turn(ctx, t)
}
