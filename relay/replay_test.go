package relay_test

import (
	"context"
	"fmt"
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

var again = store.Ref{Box: "outbox", Subscription: "again"}

// replay starts a replay in the store.
func (w *world) replay(r store.Replay) *store.Replay {
	w.t.Helper()
	if r.Of = "default"; r.Ref.Box == "" {
		r.Ref = again
	}
	if err := w.store.StartReplay(w.t.Context(), store.Audit{Who: "an operator", Why: "a test"}, r); err != nil {
		w.t.Fatal(err)
	}
	return &r
}

// through waits until a replay is: by the store's own positions.
func (w *world) through(r *store.Replay) {
	w.t.Helper()
	w.eventually("the replay is through", func() bool { return w.isThrough(r) })
}

func (w *world) isThrough(r *store.Replay) bool {
	w.t.Helper()
	o, err := w.store.Overview(w.t.Context())
	if err != nil {
		w.t.Fatal(err)
	}
	for _, s := range o.Boxes[0].Subscriptions {
		if s.Ref != r.Ref {
			continue
		}
		for _, sh := range s.Shards {
			if floor, err := w.store.Floor(sh.Position); err != nil || floor < r.Through {
				return false
			}
		}
		return true
	}
	return false
}

// replayed are the payloads that a broker got, by the header of replays.
func replayed(to *membroker.Destination, name string) (out []string) {
	for _, d := range to.First() {
		if d.Headers[broker.HeaderReplay] == name {
			out = append(out, string(d.Payload))
		}
	}
	return out
}

func TestAReplaySendsItsRangeAgainInOrderAndMarked(t *testing.T) {
	t.Parallel()
	w := newWorld(t, memstore.Options{}, membroker.Options{})
	w.run(w.relay(relay.Options{}))
	w.publish(300, 3)
	w.delivered(300)
	other := membroker.New(membroker.Options{})
	r := w.replay(store.Replay{After: 100, Through: 200, Keys: []string{store.KeySum("key-1"), store.KeySum("key-2")}})
	w.run(w.relay(relay.Options{Subscriptions: []relay.Subscription{{To: other, Replay: r, Headers: map[string]string{"also": "this"}}}}))
	w.through(r)
	var want []string
	for seq := int64(101); seq <= 200; seq++ { // messages take turns with their keys
		if n := int(seq - 1); n%3 > 0 {
			want = append(want, fmt.Sprintf("key-%d/%d", n%3, n/3))
		}
	}
	got := replayed(other, "again")
	if other.Len() != len(want) || len(got) != len(want) {
		t.Fatalf("%d messages came, %d of them marked, and %d were asked for", other.Len(), len(got), len(want))
	}
	for _, key := range []string{"key-1/", "key-2/"} {
		of := func(all []string) []string {
			return slices.DeleteFunc(slices.Clone(all), func(s string) bool { return !strings.HasPrefix(s, key) })
		}
		if !slices.Equal(of(got), of(want)) {
			t.Errorf("of %s came %v, and %v was asked for", key, of(got), of(want))
		}
	}
	if h := other.First()[0].Headers["also"]; h != "this" {
		t.Errorf("beside the mark the default header is %q", h)
	}
	if w.to.Len() != 300 {
		t.Errorf("the subscription's own destination has %d messages", w.to.Len())
	}
}

func TestAReplayThatIsNotToBeMarkedSendsMessagesAsTheyWere(t *testing.T) {
	t.Parallel()
	w := newWorld(t, memstore.Options{}, membroker.Options{})
	w.run(w.relay(relay.Options{}))
	w.publish(10, 2)
	w.delivered(10)
	other := membroker.New(membroker.Options{})
	r := w.replay(store.Replay{Through: 10, Unmarked: true})
	w.run(w.relay(relay.Options{Subscriptions: []relay.Subscription{{To: other, Replay: r}}}))
	w.through(r)
	if marked := replayed(other, "again"); other.Len() != 10 || len(marked) > 0 {
		t.Errorf("%d of 10 messages came, %d of them marked", other.Len(), len(marked))
	}
}

// The end is a seq, and transactions commit in another sequence: what is below the end comes, however late it commits, and the
// replay is not through before.
func TestAReplayWaitsForALateCommitBelowItsEnd(t *testing.T) {
	t.Parallel()
	w := newWorld(t, memstore.Options{}, membroker.Options{})
	w.run(w.relay(relay.Options{}))
	w.publish(10, 1)
	tx, err := w.store.Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if err := w.store.Append(t.Context(), tx, "outbox", []postbag.Message{{ID: postbag.NewID(), Topic: "t", Key: "late", Payload: []byte("late")}}); err != nil {
		t.Fatal(err)
	}
	w.publish(20, 1)
	w.delivered(30)
	other := membroker.New(membroker.Options{})
	r := w.replay(store.Replay{After: 5, Through: 20})
	w.run(w.relay(relay.Options{Subscriptions: []relay.Subscription{{To: other, Replay: r}}}))
	if err := other.WaitFor(t.Context(), 14); err != nil { // seqs 6 to 20 without the open one
		t.Fatal(err)
	}
	w.publish(50, 1) // beyond the end
	w.delivered(80)
	if w.isThrough(r) {
		t.Error("the replay is through while a transaction is open that has a message below its end")
	}
	if err := tx.Commit(t.Context()); err != nil {
		t.Fatal(err)
	}
	w.through(r)
	if got := replayed(other, "again"); len(got) != 15 || !slices.Contains(got, "late") {
		t.Errorf("%d messages came: %v", len(got), got)
	}
}

func TestARelayRefusesAReplayThatItCannotWork(t *testing.T) {
	t.Parallel()
	w := newWorld(t, memstore.Options{}, membroker.Options{})
	sound := store.Replay{Ref: again, Of: "default", Through: 5}
	for name, c := range map[string]struct {
		s    relay.Subscription
		on   store.Store
		want string
	}{
		"an empty range":      {relay.Subscription{To: w.to, Replay: &store.Replay{Ref: again, Of: "default"}}, w.store, "is empty"},
		"exactly once":        {relay.Subscription{To: w.to, Replay: &sound, ExactlyOnce: true}, w.store, "delivers at least once"},
		"a store without any": {relay.Subscription{To: w.to, Replay: &sound}, struct{ store.Store }{w.store}, "keeps none"},
	} {
		if _, err := relay.New(c.on, relay.Options{Subscriptions: []relay.Subscription{c.s}}); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, without %q", name, err, c.want)
		}
	}
}

// A relay whose replay was ended under it declares nothing of that name.
func TestARelayOfAnEndedReplayMakesNoSubscription(t *testing.T) {
	t.Parallel()
	w := newWorld(t, memstore.Options{}, membroker.Options{})
	w.run(w.relay(relay.Options{}))
	w.publish(10, 1)
	w.delivered(10)
	r := w.replay(store.Replay{Through: 10})
	if err := w.store.EndReplay(context.Background(), store.Audit{Who: "an operator", Why: "a test"}, r.Ref, "nothing"); err != nil {
		t.Fatal(err)
	}
	other := membroker.New(membroker.Options{})
	rel := w.relay(relay.Options{Subscriptions: []relay.Subscription{{To: other, Replay: r}}})
	stop := w.run(rel)
	w.eventually("the relay has beaten", func() bool { return rel.Stats().Beats > 1 })
	stop()
	o, err := w.store.Overview(t.Context())
	if err != nil || len(o.Boxes[0].Subscriptions) != 1 || other.Len() > 0 {
		t.Errorf("%d subscriptions, %d messages came: %v", len(o.Boxes[0].Subscriptions), other.Len(), err)
	}
}

func TestAReplayIsNotBoundByTheAgeOfItsMessages(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, memstore.Options{}, membroker.Options{})
		stop := w.run(w.relay(relay.Options{Subscriptions: []relay.Subscription{{To: w.to}}}))
		w.publish(20, 5)
		w.delivered(20)
		stop()
		<-time.After(time.Hour)
		other := membroker.New(membroker.Options{})
		r := w.replay(store.Replay{Through: 10})
		rules := []relay.RetryRule{{Types: []string{"order.*"}, Retry: relay.Retry{MaxAge: time.Minute}}}
		stop = w.run(w.relay(relay.Options{Subscriptions: []relay.Subscription{{To: other, Replay: r, Retry: relay.Retry{MaxAge: time.Minute}, Retries: rules}}}))
		defer stop()
		w.through(r)
		if n := len(replayed(other, again.Subscription)); n != 10 {
			t.Errorf("of 10 messages that are an hour old, and were replayed by a policy with an age of a minute, %d came", n)
		}
		if rules[0].Retry.MaxAge != time.Minute {
			t.Error("the rules of the caller are changed")
		}
	})
}
