package relay_test

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
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

var audit = store.Ref{Box: "outbox", Subscription: "audit"}

// add adds a subscription with a destination, as operators do.
func (w *world) add(ref store.Ref, destination string, from store.Start) {
	w.t.Helper()
	if err := w.store.Add(w.t.Context(), anna, store.Spec{Ref: ref, From: from, Types: nil}); err != nil {
		w.t.Fatal(err)
	}
	w.assign(ref, destination)
}

func (w *world) assign(ref store.Ref, destination string) {
	w.t.Helper()
	if err := w.store.Tune(w.t.Context(), anna, ref, []store.Setting{{Name: store.SettingDestination, Value: destination}}, nil); err != nil {
		w.t.Fatal(err)
	}
}

// following makes a relay with destinations for added subscriptions.
func (w *world) following(log *logged, to map[string]broker.Destination) *relay.Relay {
	w.t.Helper()
	r, err := relay.New(w.store, relay.Options{
		Subscriptions: []relay.Subscription{{To: w.to, ToName: "shop"}}, Destinations: to, Name: "one",
		PollMax: 20 * time.Millisecond, TTL: 2 * time.Second, Logger: slog.New(slog.NewTextHandler(log, nil)),
	})
	if err != nil {
		w.t.Fatal(err)
	}
	return r
}

// got waits until a destination has n messages.
func (w *world) got(to *membroker.Destination, n int) {
	w.t.Helper()
	ctx, cancel := context.WithTimeout(w.t.Context(), 20*time.Second)
	defer cancel()
	if err := to.WaitFor(ctx, n); err != nil {
		w.t.Fatalf("%v: %d of %d delivered", err, to.Len(), n)
	}
}

// worked are the subscriptions that a relay works, by its stats.
func worked(r *relay.Relay) (out []string) {
	for _, s := range r.Stats().Subscriptions {
		out = append(out, s.Subscription)
	}
	return out
}

func TestARelayBeginsAndEndsSubscriptionsThatOperatorsAddAndRemove(t *testing.T) {
	t.Parallel()
	w := newWorld(t, memstore.Options{}, membroker.Options{})
	log, other := &logged{}, membroker.New(membroker.Options{})
	r := w.following(log, map[string]broker.Destination{"audit": other})
	stop := w.run(r)
	w.publish(30, 3)
	w.delivered(30)
	w.add(audit, "audit", store.Start{})
	w.got(other, 30)
	w.publish(30, 3)
	w.got(other, 60)
	w.delivered(60)
	if got := worked(r); !slices.Equal(got, []string{"default", "audit"}) {
		t.Errorf("the stats have %q", got)
	}
	seen := map[string]int{}
	for _, d := range other.First() {
		if want := fmt.Sprintf("%s/%d", d.Key, seen[d.Key]); string(d.Payload) != want {
			t.Fatalf("%s came where %s was due", d.Payload, want)
		}
		seen[d.Key]++
	}
	if err := w.store.Remove(t.Context(), anna, audit, true); err != nil {
		t.Fatal(err)
	}
	w.eventually("the relay has let go of it", func() bool { return slices.Equal(worked(r), []string{"default"}) })
	w.publish(10, 3)
	w.delivered(70)
	if other.Len() != 60 {
		t.Errorf("%d messages came of a subscription that was removed", other.Len()-60)
	}
	w.add(audit, "audit", store.Start{Now: true})
	w.eventually("it begins again", func() bool { return slices.Equal(worked(r), []string{"default", "audit"}) })
	w.publish(5, 1)
	w.got(other, 65)
	stop()
	if s := r.Stats(); !s.Graceful {
		t.Errorf("the relay has not ended gracefully: %+v", s)
	}
	o, err := w.store.Overview(t.Context())
	if err != nil || len(o.Relays) > 0 {
		t.Errorf("relays are left: %+v, %v", o.Relays, err)
	}
	for _, want := range []string{"begins a subscription that an operator has added", "subscription=audit", "destination=audit", "ends a subscription that an operator had added"} {
		if !strings.Contains(log.String(), want) {
			t.Errorf("the log does not say %q: %s", want, log)
		}
	}
}

func TestAnAddedSubscriptionIsWorkedAfterARestart(t *testing.T) {
	t.Parallel()
	w := newWorld(t, memstore.Options{}, membroker.Options{})
	other := membroker.New(membroker.Options{})
	w.add(audit, "audit", store.Start{})
	for n := range 2 {
		stop := w.run(w.following(&logged{}, map[string]broker.Destination{"audit": other}))
		w.publish(10, 2)
		w.got(other, 10*(n+1))
		stop()
	}
}

func TestARelayWithoutTheDestinationLeavesAnAddedSubscriptionAlone(t *testing.T) {
	t.Parallel()
	w := newWorld(t, memstore.Options{}, membroker.Options{})
	log, other, wrong := &logged{}, membroker.New(membroker.Options{}), membroker.New(membroker.Options{})
	lacks := w.following(log, map[string]broker.Destination{"billing": wrong})
	w.run(lacks)
	w.add(audit, "audit", store.Start{})
	w.publish(10, 2)
	w.delivered(10)
	w.eventually("the log says so", func() bool { return strings.Contains(log.String(), "this relay has none of that name") })
	if got := worked(lacks); len(got) != 1 {
		t.Errorf("a relay without the destination works %q", got)
	}
	w.run(w.following(&logged{}, map[string]broker.Destination{"audit": other}))
	w.got(other, 10)
	if wrong.Len() > 0 {
		t.Errorf("another destination got %d messages", wrong.Len())
	}
	if n := strings.Count(log.String(), "this relay has none of that name"); n != 1 {
		t.Errorf("the log says it %d times", n)
	}
}

func TestARelaysOwnSettingsWinOverADestinationThatAnOperatorGives(t *testing.T) {
	t.Parallel()
	w := newWorld(t, memstore.Options{}, membroker.Options{})
	log, other := &logged{}, membroker.New(membroker.Options{})
	w.run(w.following(log, map[string]broker.Destination{"audit": other}))
	w.publish(1, 1)
	w.delivered(1)
	w.assign(store.Ref{Box: "outbox", Subscription: "default"}, "audit")
	w.eventually("the log says so", func() bool { return strings.Contains(log.String(), "own settings name another one") })
	w.publish(20, 2)
	w.delivered(21)
	if other.Len() > 0 {
		t.Errorf("%d messages went to the operator's destination", other.Len())
	}
}

func TestAnAddedSubscriptionMovesToAnotherDestinationAndLosesNothing(t *testing.T) {
	t.Parallel()
	w := newWorld(t, memstore.Options{}, membroker.Options{})
	one, two := membroker.New(membroker.Options{}), membroker.New(membroker.Options{})
	w.run(w.following(&logged{}, map[string]broker.Destination{"one": one, "two": two}))
	w.add(audit, "one", store.Start{})
	w.publish(50, 5)
	w.got(one, 50)
	w.assign(audit, "two")
	w.publish(50, 5)
	w.eventually("all of them came", func() bool { return one.Len()+two.Len() >= 100 })
	w.publish(10, 5)
	w.eventually("the other destination gets the rest", func() bool { return two.Len() >= 10 && one.Len()+two.Len() >= 110 })
	if n := one.Len() + two.Len(); n != 110 {
		t.Errorf("%d messages came, of 110", n)
	}
}

// Removed while messages are in flight, and added again with another destination: what is of the new subscription goes nowhere else.
func TestASubscriptionThatIsAddedAgainSendsNothingToItsFormerDestination(t *testing.T) {
	t.Parallel()
	w := newWorld(t, memstore.Options{}, membroker.Options{})
	hung := make(chan struct{})
	var calls atomic.Int64
	one := broker.Wrap(membroker.New(membroker.Options{}), func(next broker.Destination) broker.Destination { return &hanging{next, hung, &calls} })
	two := membroker.New(membroker.Options{})
	r := w.following(&logged{}, map[string]broker.Destination{"one": one, "two": two})
	w.run(r)
	w.add(audit, "one", store.Start{})
	w.publish(10, 1)
	w.eventually("a call is out", func() bool { return calls.Load() > 0 })
	if err := w.store.Remove(t.Context(), anna, audit, true); err != nil {
		t.Fatal(err)
	}
	w.add(audit, "two", store.Start{})
	before := calls.Load()
	w.got(two, 10)
	w.publish(10, 1)
	w.got(two, 20)
	if n := calls.Load(); n != before {
		t.Errorf("%d calls went to the former destination", n-before)
	}
	close(hung)
}

// A relay that does not hear of the change still sends nothing of the new subscription to the former destination.
func TestAnAddedSubscriptionIsWorkedOnlyForTheDestinationThatItHas(t *testing.T) {
	t.Parallel()
	w := newWorld(t, memstore.Options{}, membroker.Options{})
	deaf := &deafStore{Store: w.store}
	one := membroker.New(membroker.Options{})
	r, err := relay.New(deaf, relay.Options{
		Subscriptions: []relay.Subscription{{To: w.to}}, Destinations: map[string]broker.Destination{"one": one},
		PollMax: 20 * time.Millisecond, TTL: time.Second, Logger: slog.New(slog.NewTextHandler(testWriter{t}, nil)),
	})
	if err != nil {
		t.Fatal(err)
	}
	w.run(r)
	w.add(audit, "one", store.Start{})
	w.publish(10, 1)
	w.got(one, 10)
	deaf.told.Store(&[]store.Assignment{{Ref: audit, Destination: "one"}})
	if err := w.store.Remove(t.Context(), anna, audit, true); err != nil {
		t.Fatal(err)
	}
	w.add(audit, "two", store.Start{})
	beats := func() {
		now := r.Stats().Beats
		w.eventually("heartbeats were made", func() bool { return r.Stats().Beats > now+4 })
	}
	beats() // until it has heard, it works the former one
	before := one.Len()
	w.publish(10, 1)
	w.delivered(20)
	beats()
	if n := one.Len() - before; n > 0 {
		t.Errorf("%d messages of the new subscription went to the former destination", n)
	}
}

// deafStore tells the same of destinations from some moment on.
type deafStore struct {
	*memstore.Store
	told atomic.Pointer[[]store.Assignment]
}

func (s *deafStore) Assigned(ctx context.Context) ([]store.Assignment, error) {
	if all := s.told.Load(); all != nil {
		return *all, nil
	}
	return s.Store.Assigned(ctx)
}

// hanging takes messages and answers nothing until its channel is closed, or the call is given up.
type hanging struct {
	broker.Destination
	until chan struct{}
	calls *atomic.Int64
}

func (d *hanging) Publish(ctx context.Context, msgs []broker.Delivery, report func(int, broker.Result)) {
	d.calls.Add(1)
	select {
	case <-d.until:
	case <-ctx.Done():
	}
	d.Destination.Publish(ctx, msgs, report)
}

func TestADrainDeliversAddedSubscriptionsToo(t *testing.T) {
	t.Parallel()
	w := newWorld(t, memstore.Options{}, membroker.Options{})
	other := membroker.New(membroker.Options{})
	w.add(audit, "audit", store.Start{})
	w.publish(40, 4)
	r := w.following(&logged{}, map[string]broker.Destination{"audit": other})
	if err := r.Drain(t.Context()); err != nil {
		t.Fatal(err)
	}
	if other.Len() != 40 || w.to.Len() != 40 {
		t.Errorf("a drain delivered %d and %d of 40 messages", w.to.Len(), other.Len())
	}
}

func TestARelayRefusesDestinationsThatOperatorsCannotUse(t *testing.T) {
	t.Parallel()
	w := newWorld(t, memstore.Options{}, membroker.Options{})
	for want, o := range map[string]struct {
		to map[string]broker.Destination
		on store.Store
	}{
		"is nil":        {map[string]broker.Destination{"audit": nil}, w.store},
		"has the name":  {map[string]broker.Destination{"a b": w.to}, w.store},
		"tells of no a": {map[string]broker.Destination{"audit": w.to}, struct{ store.Store }{w.store}},
	} {
		if _, err := relay.New(o.on, relay.Options{Subscriptions: []relay.Subscription{{To: w.to}}, Destinations: o.to}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, without %q", err, want)
		}
	}
	log := &logged{}
	w.run(w.following(log, map[string]broker.Destination{"audit": membroker.New(membroker.Options{Transactions: true})}))
	w.add(audit, "audit", store.Start{})
	w.eventually("the log says why", func() bool { return strings.Contains(log.String(), "which exactly_once alone uses") })
}

// What an operator sets of the policy holds, and hooks are called by one goroutine at a time.
func TestAnAddedSubscriptionGoesByWhatOperatorsSet(t *testing.T) {
	t.Parallel()
	w := newWorld(t, memstore.Options{}, membroker.Options{})
	other := membroker.New(membroker.Options{})
	var most, at atomic.Int64
	hooks := relay.Hooks{Call: func(e relay.CallEvent) {
		if at.Add(1) > 1 {
			t.Error("two hooks are called at the same time")
		}
		if e.Ref == audit {
			most.Store(max(most.Load(), int64(e.Messages)))
		}
		at.Add(-1)
	}}
	w.publish(50, 5)
	w.add(audit, "audit", store.Start{})
	if err := w.store.Tune(t.Context(), anna, audit, []store.Setting{{Name: store.SettingBatch, Value: "3"}}, nil); err != nil {
		t.Fatal(err)
	}
	w.run(w.relay(relay.Options{Destinations: map[string]broker.Destination{"audit": other}, Hooks: []relay.Hooks{hooks}}))
	w.got(other, 50)
	w.eventually("hooks heard of it", func() bool { return most.Load() > 0 })
	if n := most.Load(); n > 3 {
		t.Errorf("a call had %d messages, and an operator has set 3", n)
	}
}

func ExampleOptions_destinations() {
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	s := memstore.New(memstore.Options{})
	if err := s.CreateBox(ctx, "outbox"); err != nil {
		fmt.Println(err)
		return
	}
	own, more := membroker.New(membroker.Options{}), membroker.New(membroker.Options{})
	r, err := relay.New(s, relay.Options{
		Subscriptions: []relay.Subscription{{To: own}},
		Destinations:  map[string]broker.Destination{"audit": more},
		Logger:        slog.New(slog.DiscardHandler),
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	running, stop := context.WithCancel(ctx)
	ended := make(chan error, 1)
	go func() { ended <- r.Run(running) }()

	// An operator, in another process: postbag subscriptions add audit --destination audit
	who := store.Audit{Who: "anna", Why: "the auditors ask"}
	ref := store.Ref{Box: "outbox", Subscription: "audit"}
	to := []store.Setting{{Name: store.SettingDestination, Value: "audit"}}
	if err := s.Add(ctx, who, store.Spec{Ref: ref}); err != nil {
		fmt.Println(err)
	}
	if err := s.Tune(ctx, who, ref, to, nil); err != nil {
		fmt.Println(err)
	}

	if err := publishOne(ctx, s); err != nil {
		fmt.Println(err)
	}
	if err := more.WaitFor(ctx, 1); err != nil {
		fmt.Println(err)
	}
	stop()
	fmt.Println(<-ended)
	fmt.Printf("%s\n", more.First()[0].Payload)
	// Output:
	// <nil>
	// paid
}

// publishOne commits a message.
func publishOne(ctx context.Context, s *memstore.Store) error {
	p, err := postbag.NewPublisher(s, postbag.PublisherOptions{})
	if err != nil {
		return err
	}
	return p.InTx(ctx, func(ctx context.Context, tx *memstore.Tx) error {
		return p.Publish(ctx, tx, postbag.Message{Topic: "orders", Payload: []byte("paid")})
	})
}
