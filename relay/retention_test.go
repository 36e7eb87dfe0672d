package relay_test

import (
	"errors"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/postbag/postbag/broker"
	"github.com/postbag/postbag/broker/membroker"
	"github.com/postbag/postbag/relay"
	"github.com/postbag/postbag/store"
	"github.com/postbag/postbag/store/memstore"
)

var operator = store.Audit{Who: "anna", Why: "a full disk"}

// keeping is a relay's options with this retention.
func keeping(l store.Lifetimes) relay.Options {
	return relay.Options{Boxes: map[string]relay.Box{"outbox": {Retention: l}}}
}

// holds returns what the box holds.
func (w *world) holds() store.BoxView {
	w.t.Helper()
	o, err := w.store.Overview(w.t.Context())
	if err != nil {
		w.t.Fatal(err)
	}
	return o.Boxes[0]
}

// left waits until the log has so many messages.
func (w *world) left(n int64) {
	w.t.Helper()
	for range 600 {
		if w.holds().Rows == n {
			return
		}
		<-time.After(time.Second)
	}
	w.t.Fatalf("the log has %d messages, not %d", w.holds().Rows, n)
}

func TestHousekeepingGoesByTheBoxWhicheverRelayDoesIt(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, memstore.Options{}, membroker.Options{})
		long := w.relay(keeping(store.Lifetimes{Delivered: 10 * time.Hour}))
		silent := relay.Options{NoMaintenance: true}
		stop := w.run(long)
		w.publish(50, 5)
		w.delivered(50)
		<-time.After(time.Minute)
		stop()
		short := relay.Options{Keep: time.Minute}
		stops := []func(){w.run(w.relay(short)), w.run(w.relay(silent))}
		<-time.After(30 * time.Minute)
		if n := w.holds().Rows; n != 50 {
			t.Errorf("after half an hour %d of 50 messages are left, although the box keeps them for ten", n)
		}
		<-time.After(time.Hour) // no relay has said ten hours for longer than an hour
		if v := w.holds().Retention; v.Deployed != (store.Lifetimes{Delivered: time.Minute}) {
			t.Errorf("the box holds %+v, which no relay has said for an hour and a half", v)
		}
		w.left(0)
		for _, stop := range stops {
			stop()
		}
	})
}

func TestTwoRelaysThatDisagreeDoNotAlternate(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, memstore.Options{}, membroker.Options{})
		long, short := store.Lifetimes{Delivered: 10 * time.Hour}, store.Lifetimes{Delivered: time.Hour}
		stops := []func(){w.run(w.relay(keeping(short))), w.run(w.relay(keeping(long)))}
		<-time.After(time.Second)
		for range 16 { // four hours: a relay says its retention again within one
			<-time.After(15 * time.Minute)
			if v := w.holds().Retention; v.Deployed != long {
				t.Fatalf("the box holds %+v, not the longer of two", v.Deployed)
			}
		}
		log, err := w.store.Audited(t.Context(), 100)
		if err != nil {
			t.Fatal(err)
		}
		deployed := 0
		for _, e := range log {
			if strings.HasPrefix(e.What, "deploy ") {
				deployed++
			}
		}
		if n := w.holds().Notices; deployed < 1 || deployed > 2 || len(n) != 1 {
			t.Errorf("the retention was deployed %d times, and the notices are %+v; want two changes at most, and one notice", deployed, n)
		}
		for _, stop := range stops {
			stop()
		}
	})
}

func TestAnOperatorsRetentionHoldsUntilItIsReset(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, memstore.Options{}, membroker.Options{})
		var log logged
		o := keeping(store.Lifetimes{Delivered: 10 * time.Hour})
		o.Subscriptions = []relay.Subscription{{To: w.to}}
		o.Logger = slog.New(slog.NewTextHandler(&log, nil))
		r, err := relay.New(w.store, o)
		if err != nil {
			t.Fatal(err)
		}
		stop := w.run(r)
		w.publish(20, 5)
		w.delivered(20)
		if err := w.store.SetRetention(t.Context(), operator, "outbox", store.Lifetimes{Delivered: time.Minute}); err != nil {
			t.Fatal(err)
		}
		w.left(0)
		<-time.After(time.Hour)
		if n := strings.Count(log.String(), "an operator has set another retention"); n != 1 {
			t.Errorf("the log says %d times that an operator has set another retention, not once", n)
		}
		if err := w.store.SetRetention(t.Context(), operator, "outbox", store.Lifetimes{}); err != nil {
			t.Fatal(err)
		}
		w.publish(20, 5)
		w.delivered(40)
		<-time.After(time.Hour)
		if n := w.holds().Rows; n != 20 {
			t.Errorf("after a reset %d of 20 messages are left", n)
		}
		stop()
	})
}

func TestADeadMessageGoesWhenItsTimeIsOverAndFreesItsKey(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, memstore.Options{}, membroker.Options{Decide: func(m broker.Delivery, _ int) membroker.Act {
			if string(m.Payload) == "key-0/0" {
				return membroker.Act{Err: &broker.Error{Outcome: broker.Rejected, Err: errors.New("no")}}
			}
			return membroker.Act{}
		}})
		o := keeping(store.Lifetimes{Dead: time.Hour})
		o.Subscriptions = []relay.Subscription{{Retry: relay.Retry{MaxAttempts: 1}}}
		stop := w.run(w.relay(o))
		w.publish(3, 1)
		<-time.After(30 * time.Minute)
		if n := w.to.Len(); n != 0 {
			t.Errorf("%d messages were delivered that wait behind a dead one", n)
		}
		<-time.After(time.Hour)
		b := w.holds()
		if s := b.Subscriptions[0]; w.to.Len() != 2 || s.Discarded != 1 || s.Parked[store.ParkDead] != 0 {
			t.Errorf("an hour later %d messages of the key were delivered, %d discarded, and the parked are %v", w.to.Len(), s.Discarded, s.Parked)
		}
		stop()
	})
}

func TestARetentionThatIsTooShortIsRefused(t *testing.T) {
	t.Parallel()
	s := memstore.New(memstore.Options{})
	for what, o := range map[string]relay.Options{
		"10m0s":       keeping(store.Lifetimes{Delivered: time.Minute}),
		"least is 2h": keeping(store.Lifetimes{Delivered: 2 * time.Hour, Discarded: time.Hour}),
		"between 1s":  {Keep: time.Millisecond},
		"least is 3h": {Keep: 3 * time.Hour, Boxes: map[string]relay.Box{"outbox": {Retention: store.Lifetimes{Discarded: time.Hour}}}},
		"dead":        keeping(store.Lifetimes{Dead: time.Second}),
	} {
		o.Subscriptions = []relay.Subscription{{To: membroker.New(membroker.Options{})}}
		if _, err := relay.New(s, o); err == nil || !strings.Contains(err.Error(), what) {
			t.Errorf("the error is %v, and does not say %q", err, what)
		}
	}
	bare := struct{ store.Store }{s}
	o := keeping(store.Lifetimes{Dead: time.Hour})
	o.Subscriptions = []relay.Subscription{{To: membroker.New(membroker.Options{})}}
	if _, err := relay.New(bare, o); err == nil {
		t.Error("a store without a retention of its own takes a time of dead messages")
	}
}
