package relay_test

import (
	"context"
	"errors"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/postbag/postbag/broker"
	"github.com/postbag/postbag/broker/membroker"
	"github.com/postbag/postbag/relay"
	"github.com/postbag/postbag/store"
	"github.com/postbag/postbag/store/memstore"
)

// breaking is a destination whose calls break when they hold a bad message.
type breaking struct {
	broker.Destination // without what else the one in memory can do

	bad    string
	panics bool
	broke  atomic.Int64
}

func (b *breaking) Publish(ctx context.Context, msgs []broker.Delivery, results []broker.Result) {
	for i := range msgs {
		if string(msgs[i].Payload) != b.bad {
			continue
		}
		b.broke.Add(1)
		if b.panics {
			panic("a message that nobody expected")
		}
		for k := range results {
			results[k].Err = errors.New("the connection was reset")
		}
		return
	}
	b.Destination.Publish(ctx, msgs, results)
}

// newBreaking is a world whose destination breaks at the seventh message of key-3.
func newBreaking(t *testing.T, panics bool) (*world, *breaking, relay.Subscription) {
	t.Helper()
	w := newWorld(t, memstore.Options{}, membroker.Options{})
	to := &breaking{Destination: w.to, bad: "key-3/6", panics: panics}
	// Batch is below all that is published, so that the bad one is among good ones.
	return w, to, relay.Subscription{To: to, Batch: 100, Retry: relay.Retry{Min: time.Millisecond, Max: 2 * time.Millisecond, MaxAttempts: 3}}
}

// onlyTheBadOneIsDead checks that one message is dead, and which.
func (w *world) onlyTheBadOneIsDead(attempts int) {
	w.t.Helper()
	if dead := w.dead(); string(dead.Payload) != "key-3/6" || dead.Attempts != attempts {
		w.t.Fatalf("%s is dead after %d attempts, want key-3/6 after %d", dead.Payload, dead.Attempts, attempts)
	}
}

func TestAMessageAtWhichAHandlerPanicsIsChargedAlone(t *testing.T) {
	t.Parallel()
	w, to, s := newBreaking(t, true)
	w.publish(500, 50)
	r := w.relay(relay.Options{Subscriptions: []relay.Subscription{s}})
	w.run(r)
	w.delivered(500 - 4) // the bad one, and three behind it
	w.eventually("the bad message is dead", func() bool { return w.overview().Parked[store.Dead] == 1 })
	w.inOrder("key-3")
	w.onlyTheBadOneIsDead(3)
	stats := r.Stats().Subscriptions[0]
	if stats.Rejected != 3 || stats.Dead != 1 {
		t.Errorf("%d attempts were counted and %d messages died; want 3 and 1", stats.Rejected, stats.Dead)
	}
	if stats.Opened > 0 {
		t.Errorf("the circuit opened %d times: a panic says nothing of the destination", stats.Opened)
	}
	if to.broke.Load() < 3 || !strings.Contains(stats.LastError, "panicked") {
		t.Errorf("after %d panics the last error is %q", to.broke.Load(), stats.LastError)
	}
}

func TestAMessageThatCutsItsCallsRunsOutOfAttemptsWhileOthersPass(t *testing.T) {
	t.Parallel()
	w, _, s := newBreaking(t, false)
	w.publish(500, 50)
	r := w.relay(relay.Options{Subscriptions: []relay.Subscription{s}})
	w.run(r)
	w.delivered(500 - 4)
	// Without others that come through, nobody can tell it from an outage.
	w.eventually("the bad message is dead", func() bool {
		w.publish(1, 1)
		return w.overview().Parked[store.Dead] == 1
	})
	w.delivered(w.total() - 4)
	w.inOrder("key-3")
	w.onlyTheBadOneIsDead(3)
	if stats := r.Stats().Subscriptions[0]; stats.Rejected != 3 {
		t.Errorf("%d attempts were counted, want 3", stats.Rejected)
	}
}

func TestAMessageThatNobodyGetsPastCountsNoAttempt(t *testing.T) {
	t.Parallel()
	w, to, s := newBreaking(t, false)
	to.bad = "key-0/0"
	w.publish(1, 1)
	w.run(w.relay(relay.Options{Subscriptions: []relay.Subscription{s}}))
	w.eventually("it was tried often", func() bool { return to.broke.Load() > 8 })
	if v := w.overview(); v.Parked[store.Dead] > 0 {
		t.Error("it is dead, though this may be an outage")
	}
}
