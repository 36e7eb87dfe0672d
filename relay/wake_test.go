package relay_test

import (
	"context"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/postbag/postbag/broker/membroker"
	"github.com/postbag/postbag/relay"
	"github.com/postbag/postbag/store"
	"github.com/postbag/postbag/store/memstore"
)

// deaf is a store that tells nobody of new messages, as one that other programs
// write to.
type deaf struct {
	store.Store

	turns, reads atomic.Int64
}

func (d *deaf) Turn(ctx context.Context, t store.Turn) (store.TurnResult, error) {
	d.turns.Add(1)
	d.reads.Add(int64(len(t.Read)))
	<-time.After(100 * time.Microsecond) // the way to the database
	return d.Store.Turn(ctx, t)
}

// idleRelay is a relay that has been idle for a quarter of an hour, so that it polls
// once a minute, and has just done so.
func idleRelay(t *testing.T, w *world, subscriptions ...relay.Subscription) (*relay.Relay, *deaf) {
	t.Helper()
	s := &deaf{Store: w.store}
	r := w.relayOver(s, relay.Options{PollMax: time.Minute, NoMaintenance: true, Subscriptions: subscriptions})
	w.run(r)
	<-time.After(15 * time.Minute)
	for n := s.turns.Load(); s.turns.Load() == n; {
		<-time.After(10 * time.Millisecond)
	}
	return r, s
}

// Messages of other programs waited for the poll, whatever their writers did.
func TestAWokenRelayReadsAtOnce(t *testing.T) {
	t.Parallel()
	for name, box := range map[string]string{"its box": "outbox", "all boxes": ""} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				w := newWorld(t, memstore.Options{}, membroker.Options{})
				r, _ := idleRelay(t, w)
				w.publish(1, 1)
				<-time.After(10 * time.Second)
				if n := w.to.Len(); n != 0 {
					t.Fatalf("%d messages came by themselves: the relay polls more often than this test thinks", n)
				}
				began := time.Now()
				if !r.Wake(box) {
					t.Error("the relay says that it does not read the box")
				}
				w.delivered(1)
				if took := time.Since(began); took > 20*time.Millisecond {
					t.Errorf("the message came after %v", took)
				}
			})
		})
	}
}

func TestARelayIsWokenForItsBoxesAlone(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, memstore.Options{}, membroker.Options{})
		if err := w.store.CreateBox(t.Context(), "other"); err != nil {
			t.Fatal(err)
		}
		r, s := idleRelay(t, w, relay.Subscription{}, relay.Subscription{Box: "other"})
		before := s.reads.Load()
		if r.Wake("nobodys") {
			t.Error("the relay says that it reads a box of which it has no subscription")
		}
		<-time.After(time.Second)
		if n := s.reads.Load() - before; n != 0 {
			t.Errorf("%d reads because of a box that is not read", n)
		}
		r.Wake("other")
		<-time.After(time.Second)
		if n := s.reads.Load() - before; n != 1 {
			t.Errorf("%d reads because one of two boxes has something new, want 1", n)
		}
	})
}

// Anyone who may reach the daemon's listener can wake its relay as often as they like.
func TestManyWakesCauseNoMoreReadsThanABusyPoll(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, memstore.Options{}, membroker.Options{})
		r, s := idleRelay(t, w)
		before := s.turns.Load()
		const seconds = 10
		for begun := time.Now(); time.Since(begun) < seconds*time.Second; <-time.After(20 * time.Microsecond) {
			r.Wake("")
		}
		// A flow that polls because messages come looks every 4 ms.
		if n := s.turns.Load() - before; n > seconds*250+100 || n < seconds*200 {
			t.Errorf("%d turns in %d s of wakes that found nothing, want at most 250 a second, and about as many", n, seconds)
		}
		w.publish(1, 1)
		began := time.Now()
		r.Wake("")
		w.delivered(1)
		if took := time.Since(began); took > 20*time.Millisecond {
			t.Errorf("a message came %v after its wake", took)
		}
	})
}

func TestARelayThatDoesNotRunMayBeWoken(t *testing.T) {
	t.Parallel()
	w := newWorld(t, memstore.Options{}, membroker.Options{})
	r := w.relay(relay.Options{})
	for range 3 {
		r.Wake("")
	}
	w.publish(10, 2)
	if err := r.Drain(t.Context()); err != nil {
		t.Fatal(err)
	}
	r.Wake("outbox")
}
