package relay_test

import (
	"context"
	"errors"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/postbag/postbag"
	"github.com/postbag/postbag/broker"
	"github.com/postbag/postbag/broker/membroker"
	"github.com/postbag/postbag/relay"
	"github.com/postbag/postbag/store"
	"github.com/postbag/postbag/store/memstore"
)

// A log said nothing of messages that were rejected, nor of those that were given up.
func TestTheLogNamesMessagesThatAreRejectedAndDead(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, memstore.Options{}, membroker.Options{Decide: func(m broker.Delivery, _ int) membroker.Act {
			if strings.HasPrefix(string(m.Payload), "key-3/") {
				return membroker.Fail(broker.Rejected, "too odd")
			}
			return membroker.Act{}
		}})
		log, _, stop := w.logged(w.store, relay.Options{Subscriptions: []relay.Subscription{{
			To: w.to, ToName: "there", Retry: relay.Retry{MaxAttempts: 3, Min: time.Second, Max: time.Second},
		}}})
		w.publish(50, 5)
		<-time.After(20 * time.Second)
		dead, _, err := w.store.List(t.Context(), store.Query{Ref: w.overview().Ref, State: store.StateDead})
		if err != nil || len(dead) != 1 {
			t.Fatalf("%d messages are dead: %v", len(dead), err)
		}
		order := store.Audit{Who: "a", Why: "b"}
		if n, err := w.store.Command(t.Context(), order, w.overview().Ref, store.Discard, []int64{dead[0].Seq}); err != nil || n != 1 {
			t.Fatalf("discard: %d, %v", n, err)
		}
		<-time.After(10 * time.Second)
		stop()
		w.saysDiscarded(log, "t", dead[0].ID)
		if said := log.with("is discarded, by a command"); !strings.Contains(strings.Join(said, ""), `reason="membroker: too odd"`) {
			t.Errorf("the log does not say the last error of the message that was discarded: %q", said)
		}
		if n := log.count("begins to deliver"); n != 1 {
			t.Errorf("it begins to deliver %d times:\n%s", n, log)
		}
		for _, text := range []string{"a message is rejected, and tried again later", "a message is dead"} {
			said := log.with(text)
			if len(said) != 2 { // that one, and the next of its key once it was discarded
				t.Fatalf("%d lines say %q, not two:\n%s", len(said), text, log)
			}
			for _, part := range []string{"subscription=outbox/default", "to=there", "id=", "topic=t", "too odd"} {
				if !strings.Contains(said[0], part) {
					t.Errorf("%q has no %q", said[0], part)
				}
			}
			if strings.Contains(said[0], "key-3") {
				t.Errorf("%q has the key or the payload", said[0])
			}
		}
	})
}

// Two hundred rejections filled the minute's lines, and the log named none of the messages that died of them.
func TestRejectionsKeepNoDeathOutOfTheLog(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, memstore.Options{}, membroker.Options{Decide: func(broker.Delivery, int) membroker.Act {
			return membroker.Fail(broker.Rejected, "too odd")
		}})
		log, _, stop := w.logged(w.store, relay.Options{Subscriptions: []relay.Subscription{{
			To: w.to, OnReject: relay.Skip, Retry: relay.Retry{MaxAttempts: 2, Min: time.Second, Max: time.Second},
		}}})
		w.publish(100, 100)
		<-time.After(20 * time.Second)
		stop()
		for text, want := range map[string]int{
			"a message is rejected, and tried again later": 20, "more messages are rejected; see postbag messages list": 1,
			"a message is dead": 20, "more messages are dead; see postbag messages list": 1,
		} {
			if n := log.count(text); n != want {
				t.Errorf("%d lines say %q, want %d", n, text, want)
			}
		}
	})
}

// Of a message that an operator had tried again the log has one line, whatever state the message was in.
func TestTheLogNamesAMessageThatACommandTriesAgain(t *testing.T) {
	t.Parallel()
	for state, retry := range map[store.State]relay.Retry{
		store.StateDead:     {MaxAttempts: 1},
		store.StateRetrying: {Min: time.Hour, Max: time.Hour},
	} {
		t.Run(string(state), func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				var cured atomic.Bool
				w := newWorld(t, memstore.Options{}, membroker.Options{Decide: func(m broker.Delivery, _ int) membroker.Act {
					if strings.HasPrefix(string(m.Payload), "key-3/") && !cured.Load() {
						return membroker.Fail(broker.Rejected, "too odd")
					}
					return membroker.Act{}
				}})
				log, _, stop := w.logged(w.store, relay.Options{Subscriptions: []relay.Subscription{{To: w.to, ToName: "there", Retry: retry}}})
				w.publishTo(50, 5, func(int, int) string { return "orders" })
				<-time.After(20 * time.Second)
				failed, _, err := w.store.List(t.Context(), store.Query{Ref: w.overview().Ref, State: state})
				if err != nil || len(failed) != 1 {
					t.Fatalf("%d messages are %s: %v", len(failed), state, err)
				}
				cured.Store(true)
				for want := range 2 { // given twice, it is queued once
					n, err := w.store.Command(t.Context(), store.Audit{Who: "a", Why: "b"}, w.overview().Ref, store.Retry, []int64{failed[0].Seq})
					if err != nil || n != 1-want {
						t.Fatalf("retry: %d, %v", n, err)
					}
				}
				<-time.After(10 * time.Second)
				stop()
				w.inOrder()
				said := log.with("by a command")
				if len(said) != 1 {
					t.Fatalf("%d lines say that a message is tried again:\n%s", len(said), log)
				}
				for _, part := range []string{
					"a message is tried again, by a command", "subscription=outbox/default", "to=there", "id=" + failed[0].ID.String(),
					"topic=orders ", `reason="membroker: too odd"`,
				} {
					if !strings.Contains(said[0], part) {
						t.Errorf("%q has no %q", said[0], part)
					}
				}
				if strings.Contains(said[0], "key-") {
					t.Errorf("%q has the key or the payload", said[0])
				}
			})
		})
	}
}

// saysDiscarded checks that one line of the log names a message that was discarded, and
// nothing of what is in it.
func (w *world) saysDiscarded(log *lines, topic string, id postbag.ID) {
	w.t.Helper()
	said := log.with("is discarded, by a command")
	if len(said) != 1 {
		w.t.Fatalf("%d lines say that a message was discarded:\n%s", len(said), log)
	}
	for _, part := range []string{"subscription=outbox/default", "to=there", "id=" + id.String(), "topic=" + topic + " "} {
		if !strings.Contains(said[0], part) {
			w.t.Errorf("%q has no %q", said[0], part)
		}
	}
	if strings.Contains(said[0], "key-") {
		w.t.Errorf("%q has the key or the payload", said[0])
	}
}

// What was not read when the command was given has no row that says its topic.
func TestTheLogNamesAPendingMessageThatIsDiscarded(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, memstore.Options{}, membroker.Options{})
		options := relay.Options{Subscriptions: []relay.Subscription{{To: w.to, ToName: "there"}}}
		_, _, stop := w.logged(w.store, options)
		<-time.After(10 * time.Second)
		stop()
		w.publishTo(1, 1, func(int, int) string { return "orders" })
		pending, _, err := w.store.List(t.Context(), store.Query{Ref: w.overview().Ref, State: store.StatePending})
		if err != nil || len(pending) != 1 {
			t.Fatalf("%d messages are pending: %v", len(pending), err)
		}
		why := store.Audit{Who: "a", Why: "b"}
		if n, err := w.store.Command(t.Context(), why, w.overview().Ref, store.Discard, []int64{pending[0].Seq}); err != nil || n != 1 {
			t.Fatalf("discard: %d, %v", n, err)
		}
		log, _, stop := w.logged(w.store, options)
		<-time.After(10 * time.Second)
		stop()
		w.saysDiscarded(log, "orders", pending[0].ID)
	})
}

// A destination that rejects everything does not fill the log.
func TestTheLogOfManyRejectionsIsBounded(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, memstore.Options{}, membroker.Options{Decide: func(broker.Delivery, int) membroker.Act {
			return membroker.Fail(broker.Rejected, "no")
		}})
		log, _, stop := w.logged(w.store, relay.Options{})
		w.publish(500, 500)
		<-time.After(30 * time.Second)
		stop()
		if n := log.count("rejected"); n < 10 || n > 25 {
			t.Errorf("%d lines are of rejected messages", n)
		}
	})
}

// A takeover was not in the log.
func TestTheLogNamesARelayThatDied(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, memstore.Options{}, membroker.Options{})
		log, _, stop := w.logged(w.store, relay.Options{})
		for _, left := range []bool{true, false} {
			id := map[bool]string{true: "leaves", false: "dies"}[left]
			if _, err := w.store.Beat(t.Context(), store.Beat{Relay: id, Name: "n-" + id, New: true, TTL: 10 * time.Second}); err != nil {
				t.Fatal(err)
			}
			<-time.After(6 * time.Second)
			if left {
				if _, err := w.store.Beat(t.Context(), store.Beat{Relay: id, Leave: true}); err != nil {
					t.Fatal(err)
				}
			}
			<-time.After(20 * time.Second)
		}
		stop()
		if log.count("another relay died") != 1 || log.count("name=n-dies") != 1 {
			t.Errorf("the log does not name the one that died:\n%s", log)
		}
	})
}

// "Begins to deliver" came before the relay had a shard, and while another's lease ran out the log said nothing.
func TestTheLogSaysWhoHoldsTheShardsThatARelayWaitsFor(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, memstore.Options{}, membroker.Options{})
		dead := &cutOff{Store: w.store}
		first, _, end := w.logged(dead, relay.Options{Name: "first"})
		<-time.After(time.Second)
		dead.cut.Store(true)
		second, _, stop := w.logged(w.store, relay.Options{})
		<-time.After(time.Second)
		said := second.with("another relay holds shards")
		if len(said) != 1 || !strings.Contains(said[0], "name=first") || !strings.Contains(said[0], "shards=4 of=4") {
			t.Errorf("it says %q", said)
		}
		if n := second.count("begins to deliver"); n != 0 {
			t.Error("it begins to deliver without a shard")
		}
		<-time.After(time.Minute)
		if n := second.count("begins to deliver"); n != 1 {
			t.Errorf("it begins to deliver %d times:\n%s", n, second)
		}
		if first.count("another relay holds shards") != 0 {
			t.Error("the first waits for somebody")
		}
		stop()
		end()
	})
}

// cutOff is a store that a relay does not reach any more, as if it had been killed.
type cutOff struct {
	store.Store

	cut atomic.Bool
}

func (c *cutOff) Beat(ctx context.Context, b store.Beat) (store.View, error) {
	if c.cut.Load() {
		return store.View{}, errors.New("cut off")
	}
	return c.Store.Beat(ctx, b)
}
