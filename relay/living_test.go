package relay_test

import (
	"context"
	"log/slog"
	"slices"
	"strings"
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

var (
	anna  = store.Audit{Who: "anna", Why: "a bad deployment"}
	outby = store.Ref{Box: "outbox", Subscription: "default"}
)

// ofType publishes a message of a type.
func (w *world) ofType(kind string) {
	w.t.Helper()
	err := w.pub.InTx(w.t.Context(), func(ctx context.Context, tx *memstore.Tx) error {
		return w.pub.Publish(ctx, tx, postbag.Message{Topic: "t", Type: kind, Payload: []byte("x")})
	})
	if err != nil {
		w.t.Fatal(err)
	}
}

// logging makes a relay that writes to a log.
func (w *world) logging(log *logged, subscriptions ...relay.Subscription) *relay.Relay {
	w.t.Helper()
	r, err := relay.New(w.store, relay.Options{Subscriptions: subscriptions, Logger: slog.New(slog.NewTextHandler(log, nil))})
	if err != nil {
		w.t.Fatal(err)
	}
	return r
}

func TestAFilterIsChangedWhileARelayRuns(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, memstore.Options{}, membroker.Options{})
		log, one := &logged{}, relay.Subscription{To: w.to, Types: []string{"a"}}
		stop := w.run(w.logging(log, one))
		w.ofType("a")
		w.delivered(1)
		w.ofType("b")
		<-time.After(time.Second)
		if err := w.store.SetFilter(t.Context(), anna, outby, store.Filter{Types: []string{"b"}}); err != nil {
			t.Fatal(err)
		}
		w.ofType("b")
		w.ofType("a")
		w.delivered(2)
		<-time.After(time.Minute)
		const differs = "not that of this relay's settings"
		if n := strings.Count(log.String(), differs); n != 1 || w.to.Len() != 2 {
			t.Errorf("%d messages are delivered, and the log says %d times that the filter differs: %s", w.to.Len(), n, log)
		}
		stop()
		stop = w.run(w.logging(log, one)) // the settings still have the old one
		w.ofType("a")
		w.ofType("b")
		w.delivered(3)
		<-time.After(time.Minute)
		if n := strings.Count(log.String(), differs); n != 2 || w.to.Len() != 3 {
			t.Errorf("after a restart %d messages are delivered, and the log says %d times that the filter differs", w.to.Len(), n)
		}
		stop()
	})
}

// A log is read by more people than the settings are.
func TestTheLogNamesTheHeadersOfAFilterWithoutTheirValues(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, memstore.Options{}, membroker.Options{})
		log := &logged{}
		stop := w.run(w.logging(log, relay.Subscription{To: w.to}))
		<-time.After(time.Second)
		if err := w.store.SetFilter(t.Context(), anna, outby, store.Filter{Where: store.Where{
			Headers: []string{"customer=berta", "customer=carl", "vip"}, Except: []store.Match{{Topics: []string{"t"}, Headers: []string{"mail=dora@example.com"}}},
		}}); err != nil {
			t.Fatal(err)
		}
		<-time.After(time.Minute)
		stop()
		text := log.String()
		if !strings.Contains(text, `where="headers customer=...,vip; except topics t headers mail=..."`) {
			t.Errorf("the log does not name the headers: %s", text)
		}
		for _, value := range []string{"berta", "carl", "dora"} {
			if strings.Contains(text, value) {
				t.Errorf("the log has the value %s: %s", value, text)
			}
		}
	})
}

func TestARelayLetsGoOfARemovedSubscriptionAndTakesItsSuccessor(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, memstore.Options{}, membroker.Options{
			Decide: func(broker.Delivery, int) membroker.Act { return membroker.Act{Delay: 3 * time.Second} },
		})
		log, one := &logged{}, relay.Subscription{To: w.to}
		r := w.logging(log, one)
		stop := w.run(r)
		w.publish(10, 5)
		<-time.After(time.Second) // they are in a call, which has no answer yet
		if err := w.store.Remove(t.Context(), anna, outby, true); err != nil {
			t.Fatal(err)
		}
		<-time.After(10 * time.Second)
		if s := r.Stats().Subscriptions[0]; s.Shards != 0 || s.Unsettled != 0 || s.Bytes != 0 {
			t.Errorf("it still has %+v of a removed subscription", s)
		}
		if text := log.String(); strings.Count(text, "an operator removed it") != 1 || strings.Contains(text, "does not answer") {
			t.Errorf("the log says: %s", text)
		}
		stop()
		stop = w.run(w.logging(log, one)) // its settings still name it
		<-time.After(time.Minute)
		if o, err := w.store.Overview(t.Context()); err != nil || len(o.Boxes[0].Subscriptions) != 0 {
			t.Errorf("after a restart there are %+v: %v", o.Boxes[0].Subscriptions, err)
		}
		before := w.to.Len()
		if err := w.store.Readmit(t.Context(), anna, outby); err != nil {
			t.Fatal(err)
		}
		other := w.run(w.logging(log, one)) // which declares it, and both work it
		w.delivered(before + 10)
		if !strings.Contains(log.String(), "is in the store again") {
			t.Error("the log does not say that it is there again")
		}
		stop()
		other()
	})
}

func TestADrainEndsAlthoughASubscriptionWasRemoved(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, memstore.Options{}, membroker.Options{})
		other := relay.Subscription{To: w.to, Name: "other"}
		subs := []relay.Subscription{{To: w.to}, other}
		if err := w.relay(relay.Options{Subscriptions: slices.Clone(subs)}).Drain(t.Context()); err != nil {
			t.Fatal(err)
		}
		w.publish(10, 5)
		if err := w.store.Remove(t.Context(), anna, outby, false); err != nil {
			t.Fatal(err)
		}
		if err := w.relay(relay.Options{Subscriptions: subs}).Drain(t.Context()); err != nil || w.to.Len() != 10 {
			t.Errorf("%d messages are delivered: %v", w.to.Len(), err)
		}
	})
}
