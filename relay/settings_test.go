package relay_test

import (
	"context"
	"log/slog"
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

// tune sets some settings of the subscription, and resets some.
func (w *world) tune(reset []string, settings ...string) {
	w.t.Helper()
	var set []store.Setting
	for _, text := range settings {
		name, value, _ := strings.Cut(text, "=")
		set = append(set, store.Setting{Name: name, Value: value})
	}
	if err := w.store.Tune(w.t.Context(), anna, outby, set, reset); err != nil {
		w.t.Fatal(err)
	}
}

func TestRelaysShareTheRateOfAnOperatorUntilItIsReset(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, memstore.Options{}, membroker.Options{})
		_, stop := w.rated(relay.Rate{}, 3, 3*time.Second)
		defer stop()
		w.tune(nil, "rate=20/s burst=1")
		<-time.After(time.Second) // all have heard
		w.publish(500, 50)
		before := w.to.Len()
		<-time.After(5 * time.Second)
		if n := w.to.Len() - before; n < 90 || n > 106 {
			t.Errorf("three relays sent %d messages in 5 s, at 20 a second", n)
		}
		w.tune(nil, "rate=none")
		w.delivered(500)
	})
}

func TestSettingsOfAnOperatorHoldUntilTheyAreReset(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var most atomic.Int64
		w := newWorld(t, memstore.Options{}, membroker.Options{})
		log := &logged{}
		one := relay.Subscription{To: w.to, Batch: 3, Concurrency: 1, Use: []broker.Middleware{sizes(&most)}}
		stop := w.run(w.logging(log, one))
		defer stop()
		w.publish(50, 50)
		w.delivered(50)
		for i, step := range []struct {
			set, reset string
			most       int
		}{{"batch=2", "", 2}, {"batch=7", "", 7}, {"", "batch", 3}} {
			if step.set != "" {
				w.tune(nil, step.set)
			} else {
				w.tune([]string{step.reset})
			}
			<-time.After(2 * time.Second)
			most.Store(0)
			w.publish(50, 50)
			w.delivered(100 + 50*i)
			if most := int(most.Load()); most != step.most {
				t.Errorf("the largest call has %d messages, want %d", most, step.most)
			}
		}
		text := log.String()
		if strings.Count(text, "an operator has set some settings") != 2 || strings.Count(text, "no setting is an operator's any more") != 1 || strings.Contains(text, "does not know") {
			t.Errorf("the log says: %s", text)
		}
	})
}

// sizes notes how large the largest call is.
func sizes(most *atomic.Int64) broker.Middleware {
	return func(next broker.Destination) broker.Destination { return sized{next, most} }
}

type sized struct {
	broker.Destination

	most *atomic.Int64
}

func (s sized) Publish(ctx context.Context, msgs []broker.Delivery, report func(int, broker.Result)) {
	s.most.Store(max(s.most.Load(), int64(len(msgs))))
	s.Destination.Publish(ctx, msgs, report)
}

func TestACallEndsByTheTimeoutOfNow(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, memstore.Options{}, membroker.Options{
			Decide: func(broker.Delivery, int) membroker.Act { return membroker.Act{Delay: 5 * time.Second} },
		})
		stop := w.run(w.relay(relay.Options{Subscriptions: []relay.Subscription{{To: w.to, Timeout: time.Second}}}))
		defer stop()
		<-time.After(time.Second)
		w.tune(nil, "timeout=20s")
		<-time.After(2 * time.Second)
		w.publish(1, 1)
		<-time.After(6 * time.Second)
		w.delivered(1)
	})
}

// newer is a store in which a newer version has set something.
type newer struct{ *memstore.Store }

func (n newer) Beat(ctx context.Context, b store.Beat) (store.View, error) {
	v, err := n.Store.Beat(ctx, b)
	for i := range v.Subscriptions {
		v.Subscriptions[i].Settings = []store.Setting{{Name: "batch", Value: "2"}, {Name: "cadence", Value: "psychic"}, {Name: "colour", Value: "red"}}
	}
	return v, err
}

func TestASettingOfANewerVersionIsLeftOutAndSaidOnce(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var most atomic.Int64
		w, log := newWorld(t, memstore.Options{}, membroker.Options{}), &logged{}
		r, err := relay.New(newer{w.store}, relay.Options{
			Subscriptions: []relay.Subscription{{To: w.to, Use: []broker.Middleware{sizes(&most)}}}, Logger: slog.New(slog.NewTextHandler(log, nil)),
		})
		if err != nil {
			t.Fatal(err)
		}
		stop := w.run(r)
		defer stop()
		<-time.After(time.Minute)
		w.publish(10, 10)
		w.delivered(10)
		if text := log.String(); strings.Count(text, "does not know") != 1 || !strings.Contains(text, `settings="cadence, colour"`) || most.Load() != 2 {
			t.Errorf("the largest call has %d messages; the log says: %s", most.Load(), text)
		}
	})
}

func TestAnotherSettingLeavesTheTransactionsOfADeploymentAsTheyAre(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var most atomic.Int64
		w := newWorld(t, memstore.Options{}, membroker.Options{Transactions: true})
		stop := w.run(w.relay(once(relay.Subscription{Batch: 100, InFlight: 10, Use: []broker.Middleware{sizes(&most)}})))
		defer stop()
		<-time.After(time.Second)
		for _, step := range []struct{ set, reset string }{{"timeout=10s", ""}, {"", "timeout"}} {
			if step.set != "" {
				w.tune(nil, step.set)
			} else {
				w.tune([]string{step.reset})
			}
			<-time.After(2 * time.Second)
			w.publish(200, 200)
			w.delivered(w.total())
			if most := most.Load(); most != 10 {
				t.Errorf("set %q, reset %q: the largest transaction has %d messages, 10 may be in flight", step.set, step.reset, most)
			}
		}
	})
}
