package relay_test

import (
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/postbag/postbag"
	"github.com/postbag/postbag/broker/membroker"
	"github.com/postbag/postbag/relay"
	"github.com/postbag/postbag/store"
	"github.com/postbag/postbag/store/memstore"
)

func TestAPausedSubscriptionSendsNothingUntilItIsResumed(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, memstore.Options{}, membroker.Options{})
		audit := store.Audit{Who: "anna", Why: "a bad deployment"}
		ref := store.Ref{Box: "outbox", Subscription: "default"}
		stop := w.run(w.relay(relay.Options{}))
		w.publish(10, 5)
		w.delivered(10)
		for _, others := range []bool{false, true} { // and a relay that is started meanwhile holds it, too
			before := w.to.Len()
			if err := w.store.SetPaused(t.Context(), audit, ref, true); err != nil {
				t.Fatal(err)
			}
			if others {
				stop()
				stop = w.run(w.relay(relay.Options{}))
			}
			<-time.After(time.Second) // the next heartbeat comes at once
			w.publish(10, 5)
			<-time.After(time.Minute)
			if n := w.to.Len(); n != before {
				t.Fatalf("%d messages were sent while the subscription was paused", n-before)
			}
			if err := w.store.SetPaused(t.Context(), audit, ref, false); err != nil {
				t.Fatal(err)
			}
			w.delivered(before + 10)
		}
		stop()
		w.inOrder()
	})
}

// scopes are pauses of each scope that hold the key "held" of the subscription there.
var scopes = []store.Pause{
	{Ref: store.Ref{Box: "outbox", Subscription: "default"}, Scope: store.PauseSubscription},
	{Scope: store.PauseDestination, Value: "there"},
	{Ref: store.Ref{Box: "outbox", Subscription: "default"}, Scope: store.PauseTopic, Value: "held"},
	{Ref: store.Ref{Box: "outbox", Subscription: "default"}, Scope: store.PauseType, Value: "held.*"},
	{Ref: store.Ref{Box: "outbox", Subscription: "default"}, Scope: store.PauseKey, Value: "held"},
}

// pairs publishes messages of two keys, of which the pauses hold one.
func (w *world) pairs(n int) {
	w.t.Helper()
	for i := range n {
		w.send(
			postbag.Message{Topic: "held", Type: "held.x", Key: "held", Payload: fmt.Append(nil, i)},
			postbag.Message{Topic: "free", Type: "free.x", Key: "free", Payload: fmt.Append(nil, i)},
		)
	}
}

func TestAPauseHoldsWhatItNamesAndEndsByItself(t *testing.T) {
	t.Parallel()
	for _, p := range scopes {
		for _, order := range []relay.Order{relay.ByKey, relay.Unordered} {
			t.Run(fmt.Sprint(p.Scope, order), func(t *testing.T) {
				t.Parallel()
				synctest.Test(t, func(t *testing.T) {
					w := newWorld(t, memstore.Options{}, membroker.Options{})
					log, r, stop := w.logged(w.store, relay.Options{Subscriptions: []relay.Subscription{{To: w.to, ToName: "there", Order: order}}})
					w.pairs(5)
					w.delivered(10)
					if err := w.store.SetPause(t.Context(), store.Audit{Who: "anna", Why: "a bad deployment"}, p, 12500*time.Millisecond); err != nil {
						t.Fatal(err)
					}
					<-time.After(time.Second)
					w.pairs(5)
					<-time.After(11 * time.Second)
					want := 15
					if !p.Messages() {
						want = 10
					}
					if n := w.to.Len(); n != want {
						t.Fatalf("%d messages were sent before the pause is over, want %d", n, want)
					}
					if n := r.Stats().Subscriptions[0].Pauses; n == (relay.Pauses{}) {
						t.Error("the figures of the relay have no pause")
					}
					<-time.After(time.Second) // it ends half a second from now, and no heartbeat is due then
					if n := w.to.Len(); n != 20 {
						t.Fatalf("%d messages were sent half a second after the end of the pause, want 20", n)
					}
					if order == relay.ByKey {
						w.keysInOrder("held", "free")
					}
					stop()
					begins, ends := log.with("by an operator"), log.with("a pause has ended")
					if p.Messages() {
						begins = log.with("an operator holds some messages")
					}
					if len(begins) != 1 || len(ends) != 1 || !strings.Contains(begins[0], "who=anna") || !strings.Contains(begins[0], "until=") {
						t.Errorf("the log says of the begin and the end %q and %q", begins, ends)
					}
				})
			})
		}
	}
}

// keysInOrder checks that the messages of keys came in the order of their payloads.
func (w *world) keysInOrder(keys ...string) {
	w.t.Helper()
	for _, key := range keys {
		for i, r := range w.to.OfKey(key) {
			if string(r.Payload) != fmt.Sprint(i%5) {
				w.t.Errorf("message %d of key %s has the payload %s", i, key, r.Payload)
			}
		}
	}
}

// The pause has no end, and is there before the relay.
func TestAPauseOutlastsRelaysAndIsEndedByHand(t *testing.T) {
	t.Parallel()
	for _, p := range scopes {
		t.Run(string(p.Scope), func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				w := newWorld(t, memstore.Options{}, membroker.Options{})
				if err := w.store.Declare(t.Context(), []store.Spec{{Ref: scopes[0].Ref}}); err != nil {
					t.Fatal(err)
				}
				audit := store.Audit{Who: "anna", Why: "a bad deployment"}
				if err := w.store.SetPause(t.Context(), audit, p, 0); err != nil {
					t.Fatal(err)
				}
				w.pairs(5)
				want := 0
				if p.Messages() {
					want = 5
				}
				options := relay.Options{Subscriptions: []relay.Subscription{{To: w.to, ToName: "there"}}}
				for range 2 {
					stop := w.run(w.relayTo(options))
					<-time.After(time.Hour)
					if n := w.to.Len(); n != want {
						t.Fatalf("%d messages were sent, want %d", n, want)
					}
					stop()
				}
				stop := w.run(w.relayTo(options))
				<-time.After(time.Second)
				if ended, err := w.store.EndPause(t.Context(), audit, p); err != nil || !ended {
					t.Fatal(ended, err)
				}
				<-time.After(2 * time.Second)
				if n := w.to.Len(); n != 10 {
					t.Fatalf("%d messages were sent after the end of the pause, want 10", n)
				}
				w.keysInOrder("held", "free")
				stop()
			})
		})
	}
}

// relayTo is a relay as the options say.
func (w *world) relayTo(o relay.Options) *relay.Relay {
	w.t.Helper()
	o.Logger = slog.New(slog.DiscardHandler)
	r, err := relay.New(w.store, o)
	if err != nil {
		w.t.Fatal(err)
	}
	return r
}
