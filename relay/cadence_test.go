package relay_test

import (
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/postbag/postbag/broker/membroker"
	"github.com/postbag/postbag/relay"
	"github.com/postbag/postbag/store"
	"github.com/postbag/postbag/store/memstore"
)

// turnsOf returns how many turns a relay makes in a minute: of an idle store, and while a message comes every 20 ms.
func turnsOf(t *testing.T, c relay.Cadence) (idle, trickle int64) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, memstore.Options{}, membroker.Options{})
		var n atomic.Int64
		s := &watched{Store: w.store, onTurn: func(store.Turn) { n.Add(1) }}
		stop := w.run(w.relayOver(s, relay.Options{Subscriptions: []relay.Subscription{{To: w.to, Cadence: c}}}))
		<-time.After(time.Minute)
		before := n.Load()
		<-time.After(time.Minute)
		idle = n.Load() - before
		before = n.Load()
		for range 3000 {
			w.publish(1, 1)
			<-time.After(20 * time.Millisecond)
		}
		trickle = n.Load() - before
		w.delivered(3000)
		stop()
	})
	return idle, trickle
}

func TestACadenceIsQuickOrCheapWhileLittleComes(t *testing.T) {
	t.Parallel()
	quick, quickly := turnsOf(t, relay.Latency)
	normal, normally := turnsOf(t, relay.Balanced)
	slow, slowly := turnsOf(t, relay.Background)
	if quick <= normal || normal < slow {
		t.Errorf("an idle relay makes %d turns a minute with Latency, %d with Balanced and %d with Background", quick, normal, slow)
	}
	if quickly <= normally || normally <= slowly {
		t.Errorf("while a message comes every 20 ms a relay makes %d turns a minute with Latency, %d with Balanced and %d with Background", quickly, normally, slowly)
	}
}

func TestEachCadenceHasANameThatASettingTakes(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]relay.Cadence{"": relay.Balanced, "balanced": relay.Balanced, "latency": relay.Latency, "background": relay.Background} {
		if got, err := relay.ParseCadence(name); err != nil || got != want {
			t.Errorf("cadence %q is %d, %v; want %d", name, got, err, want)
		}
		var p store.Policy
		if err := p.Set(store.SettingCadence, name); name != "" && err != nil {
			t.Errorf("a setting does not take cadence %q: %v", name, err)
		}
	}
	if _, err := relay.ParseCadence("fast"); err == nil {
		t.Error("a cadence that does not exist is taken")
	}
}
