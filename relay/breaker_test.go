package relay_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/postbag/postbag"
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
	topic  atomic.Value // a string: calls with a message of this topic break, too
	panics bool
	broke  atomic.Int64
}

func (b *breaking) Publish(ctx context.Context, msgs []broker.Delivery, report func(i int, r broker.Result)) {
	for i := range msgs {
		if topic, _ := b.topic.Load().(string); string(msgs[i].Payload) != b.bad && (topic == "" || msgs[i].Topic != topic) {
			continue
		}
		b.broke.Add(1)
		if b.panics {
			panic("a message that nobody expected")
		}
		for k := range msgs {
			report(k, broker.Result{Err: errors.New("the connection was reset")})
		}
		return
	}
	b.Destination.Publish(ctx, msgs, report)
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

func TestOnlyTheMessageWhoseHandlerPanicsCountsAnAttempt(t *testing.T) {
	t.Parallel()
	w, to, s := newBreaking(t, true)
	w.publish(500, 50)
	r := w.relay(relay.Options{Subscriptions: []relay.Subscription{s}})
	w.run(r)
	w.delivered(500 - 4) // the bad one, and three behind it
	w.eventually("the bad message is dead", func() bool { return w.overview().Parked[store.ParkDead] == 1 })
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

func TestAMessageThatBreaksConnectionsRunsOutOfAttemptsWhileOthersPass(t *testing.T) {
	t.Parallel()
	w, _, s := newBreaking(t, false)
	w.publish(500, 50)
	r := w.relay(relay.Options{Subscriptions: []relay.Subscription{s}})
	w.run(r)
	w.delivered(500 - 4)
	// Without others that come through, nobody can tell it from an outage.
	w.eventually("the bad message is dead", func() bool {
		w.publish(1, 1)
		return w.overview().Parked[store.ParkDead] == 1
	})
	w.delivered(w.total() - 4)
	w.inOrder("key-3")
	w.onlyTheBadOneIsDead(3)
	if stats := r.Stats().Subscriptions[0]; stats.Rejected != 3 {
		t.Errorf("%d attempts were counted, want 3", stats.Rejected)
	}
}

func TestABrokenCallCountsNoAttemptIfNoOtherMessagePasses(t *testing.T) {
	t.Parallel()
	w, to, s := newBreaking(t, false)
	to.bad = "key-0/0"
	w.publish(1, 1)
	w.run(w.relay(relay.Options{Subscriptions: []relay.Subscription{s}}))
	w.eventually("it was tried often", func() bool { return to.broke.Load() > 8 })
	if v := w.overview(); v.Parked[store.ParkDead] > 0 {
		t.Error("it is dead, though this may be an outage")
	}
}

// Nothing of one topic comes through, and nobody says why: its calls break. Those of other topics come through.
func TestATopicWhoseCallsBreakIsHeldAndCountsNoAttempts(t *testing.T) {
	t.Parallel()
	w, to, s := newBreaking(t, false)
	to.bad = ""
	to.topic.Store("cut")
	r := w.relay(relay.Options{Subscriptions: []relay.Subscription{s}})
	w.run(r)
	w.publish(1, 1)
	w.delivered(1)
	w.publishOne("cut", "cut-1")
	w.publishOne("cut", "cut-2")
	w.eventually("the topic is held", func() bool {
		w.publish(1, 1)
		return w.overview().Parked[store.ParkHeld] == 2
	})
	opened, broke := r.Stats().Subscriptions[0].Opened, to.broke.Load()
	w.eventually("it is tried again", func() bool {
		w.publish(1, 1)
		return to.broke.Load() > broke+2
	})
	stats := r.Stats().Subscriptions[0]
	if stats.Opened != opened {
		t.Errorf("trials of the topic opened the circuit of the destination %d times", stats.Opened-opened)
	}
	if stats.Rejected > 0 || w.overview().Parked[store.ParkDead] > 0 {
		t.Errorf("%d attempts were counted", stats.Rejected)
	}
	to.topic.Store("")
	w.publishOne("cut", "cut-1")
	w.delivered(w.total())
	w.inOrder()
}

// One message of a topic breaks its calls, and is the first and for long the only one of its topic. Others of the topic go out once
// they are there, and then it is charged.
func TestAMessageThatBreaksItsCallsBlocksNoOtherKey(t *testing.T) {
	t.Parallel()
	w, to, s := newBreaking(t, false)
	to.bad = "bad/0"
	w.run(w.relay(relay.Options{Subscriptions: []relay.Subscription{s}}))
	w.publish(1, 1)
	w.delivered(1)
	w.publishOne("quiet", "bad")
	w.eventually("the topic is held", func() bool {
		w.publish(1, 1)
		return w.overview().Parked[store.ParkHeld] == 1
	})
	for i := range 3 {
		w.publishOne("quiet", fmt.Sprintf("good-%d", i))
	}
	w.eventually("others of the topic are delivered", func() bool {
		w.publish(1, 1)
		n := 0
		for _, m := range w.to.First() {
			if m.Topic == "quiet" {
				n++
			}
		}
		return n >= 3
	})
	w.eventually("the bad one is dead", func() bool {
		w.publish(1, 1)
		w.publishOne("quiet", "good-1")
		return w.overview().Parked[store.ParkDead] == 1
	})
	if dead := w.dead(); string(dead.Payload) != to.bad {
		t.Errorf("%s is dead", dead.Payload)
	}
	w.delivered(w.total() - 1)
	w.inOrder("bad")
}

// publishOne commits a message of a key to a topic.
func (w *world) publishOne(topic, key string) {
	w.t.Helper()
	m := postbag.Message{Topic: topic, Key: key, Payload: fmt.Appendf(nil, "%s/%d", key, w.sent[key])}
	if err := w.pub.InTx(w.t.Context(), func(ctx context.Context, tx *memstore.Tx) error { return w.pub.Publish(ctx, tx, m) }); err != nil {
		w.t.Fatal(err)
	}
	w.sent[key]++
}
