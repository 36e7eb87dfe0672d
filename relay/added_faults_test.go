package relay_test

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"strings"
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

// unreadable is a store in which the filter of the added subscription cannot be read for a while.
type unreadable struct {
	*memstore.Store
	now atomic.Bool
}

func (s *unreadable) Beat(ctx context.Context, b store.Beat) (store.View, error) {
	v, err := s.Store.Beat(ctx, b)
	for i := range v.Subscriptions {
		if v.Subscriptions[i].Ref == audit && s.now.Load() {
			v.Subscriptions[i].Unreadable = errors.New("a later version wrote it")
		}
	}
	return v, err
}

func TestAnAddedSubscriptionWhoseFilterCannotBeReadWaitsAndGoesOnWhenItCan(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w, log := newWorld(t, memstore.Options{}, membroker.Options{}), &logged{}
		s := &unreadable{Store: w.store}
		s.now.Store(true)
		other := membroker.New(membroker.Options{})
		r, err := relay.New(s, relay.Options{
			Subscriptions: []relay.Subscription{{To: w.to}}, Destinations: map[string]broker.Destination{"audit": other}, Logger: slog.New(slog.NewTextHandler(log, nil)),
		})
		if err != nil {
			t.Fatal(err)
		}
		stop := w.run(r)
		defer stop()
		w.publish(5, 1)
		w.add(audit, "audit", store.Start{})
		<-time.After(2 * time.Minute)
		if n := strings.Count(log.String(), "the filter of the subscription cannot be read"); n != 1 || other.Len() > 0 {
			t.Errorf("the log says it %d times, and %d messages came: %s", n, other.Len(), log)
		}
		s.now.Store(false)
		w.got(other, 5)
		s.now.Store(true)
		<-time.After(time.Minute)
		if err := w.store.Remove(t.Context(), anna, audit, true); err != nil {
			t.Fatal(err)
		}
		<-time.After(time.Minute)
		if got := worked(r); len(got) != 1 {
			t.Errorf("a relay works %q after the subscription was removed", got)
		}
	})
}

// begins counts how often a relay of an added subscription begins.
type begins struct {
	deafStore
	n atomic.Int64
}

func (s *begins) Beat(ctx context.Context, b store.Beat) (store.View, error) {
	if b.New && slices.Contains(b.Works, audit) {
		s.n.Add(1)
	}
	return s.deafStore.Beat(ctx, b)
}

// What is told as a subscription of this relay's, and has another destination when it is looked at, ends by itself each time.
func TestAnAddedSubscriptionThatEndsAgainAndAgainWaitsLongerEachTime(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, memstore.Options{}, membroker.Options{})
		s := &begins{deafStore: deafStore{Store: w.store}}
		s.told.Store(&[]store.Assignment{{Ref: audit, Destination: "one"}})
		w.add(audit, "two", store.Start{})
		r, err := relay.New(s, relay.Options{
			Subscriptions: []relay.Subscription{{To: w.to}}, Destinations: map[string]broker.Destination{"one": membroker.New(membroker.Options{})},
			Logger: slog.New(slog.DiscardHandler),
		})
		if err != nil {
			t.Fatal(err)
		}
		stop := w.run(r)
		defer stop()
		<-time.After(2 * time.Minute) // it waits 1, 2, 4, 8, 16, 30 and 30 s
		if n := s.n.Load(); n < 3 || n > 10 {
			t.Errorf("it began %d times in two minutes", n)
		}
	})
}

func TestADrainTellsThatTheDestinationOfAnAddedSubscriptionIsDown(t *testing.T) {
	t.Parallel()
	w := newWorld(t, memstore.Options{}, membroker.Options{})
	down := membroker.New(membroker.Options{Decide: func(broker.Delivery, int) membroker.Act { return membroker.Act{Err: errors.New("away")} }})
	w.add(audit, "audit", store.Start{})
	w.publish(10, 2)
	r := w.following(&logged{}, map[string]broker.Destination{"audit": down})
	if err := r.Drain(t.Context()); err != nil {
		t.Fatal(err)
	}
	all := r.Stats().Subscriptions
	if len(all) != 2 || all[1].Ref != audit || all[1].Circuit == "closed" || all[1].LastError == "" {
		t.Errorf("the stats after the drain have %+v", all)
	}
}

// forgetful is a store that does not tell of added subscriptions for a while.
type forgetful struct {
	*memstore.Store
	asked atomic.Int64
}

func (s *forgetful) Assigned(ctx context.Context) ([]store.Assignment, error) {
	if s.asked.Add(1) <= 3 {
		return nil, errors.New("nothing is told")
	}
	return s.Store.Assigned(ctx)
}

func TestALookForAddedSubscriptionsThatFailsIsSaidOnceAndThatItIsOver(t *testing.T) {
	t.Parallel()
	w, log := newWorld(t, memstore.Options{}, membroker.Options{}), &logged{}
	other := membroker.New(membroker.Options{})
	r, err := relay.New(&forgetful{Store: w.store}, relay.Options{
		Subscriptions: []relay.Subscription{{To: w.to}}, Destinations: map[string]broker.Destination{"audit": other}, TTL: time.Second,
		Logger: slog.New(slog.NewTextHandler(log, nil)),
	})
	if err != nil {
		t.Fatal(err)
	}
	w.add(audit, "audit", store.Start{})
	w.publish(3, 1)
	w.run(r)
	w.got(other, 3)
	text := log.String()
	if strings.Count(text, "does not tell which") != 1 || strings.Count(text, "tells of added subscriptions again") != 1 || strings.Contains(text, "the store does not answer") {
		t.Errorf("the log says: %s", text)
	}
}

func TestTheRelayOfAnAddedSubscriptionDeploysNoKeepForABoxThatThisOneDoesNotRead(t *testing.T) {
	t.Parallel()
	w := newWorld(t, memstore.Options{}, membroker.Options{})
	if err := w.store.CreateBox(t.Context(), "other"); err != nil {
		t.Fatal(err)
	}
	ref := store.Ref{Box: "other", Subscription: "audit"}
	w.add(ref, "audit", store.Start{})
	r := w.relay(relay.Options{Destinations: map[string]broker.Destination{"audit": membroker.New(membroker.Options{})}, Keep: time.Hour})
	w.run(r)
	w.eventually("it is worked", func() bool { return slices.Equal(worked(r), []string{"default", "audit"}) })
	o, err := w.store.Overview(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for i := range o.Boxes {
		if b := &o.Boxes[i]; b.Name == "other" && b.Retention.Deployed.Delivered != 0 {
			t.Errorf("box other has %+v", b.Retention)
		}
	}
}

func TestAHookThatHangsDoesNotStopARelayWithDestinations(t *testing.T) {
	t.Parallel()
	w := newWorld(t, memstore.Options{}, membroker.Options{Decide: func(d broker.Delivery, n int) membroker.Act {
		if string(d.Payload) == "key-0/4" && n == 1 {
			return membroker.Act{Err: errors.New("no")}
		}
		return membroker.Act{}
	}})
	hung, hangs, told := make(chan struct{}), make(chan struct{}, 10000), make(chan struct{}, 10000)
	w.publish(20, 5)
	w.run(w.relay(relay.Options{
		Destinations: map[string]broker.Destination{"audit": membroker.New(membroker.Options{})}, Grace: 10 * time.Millisecond,
		Hooks:   []relay.Hooks{{Call: func(relay.CallEvent) { hangs <- struct{}{}; <-hung }}},
		OnError: func(error) { told <- struct{}{} },
	}))
	defer close(hung)
	<-hangs
	w.publish(20, 5)
	w.delivered(40)
	<-told
}
