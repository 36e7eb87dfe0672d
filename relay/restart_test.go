package relay_test

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/postbag/postbag/broker/membroker"
	"github.com/postbag/postbag/relay"
	"github.com/postbag/postbag/store/memstore"
)

// A database that crashed and was back in half a second stopped delivery for the whole
// TTL: the relay took another identity and waited until its own leases ran out.
func TestDeliveryResumesAsSoonAsACrashedDatabaseIsBack(t *testing.T) {
	t.Parallel()
	for _, away := range []time.Duration{0, 500 * time.Millisecond, 10 * time.Second} {
		t.Run(away.String(), func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) { crashFor(t, away) })
		})
	}
}

func crashFor(t *testing.T, away time.Duration) {
	t.Helper()
	var down atomic.Bool
	w := newWorld(t, memstore.Options{Fault: func(_ context.Context, op memstore.Op) memstore.Fault {
		if down.Load() && op != memstore.OpInspect {
			return memstore.Fault{Err: errors.New("connection refused")}
		}
		return memstore.Fault{}
	}}, membroker.Options{})
	log, r, stop := w.logged(w.store, relay.Options{})
	w.publish(50, 5)
	<-time.After(7 * time.Second)
	id := r.Stats().ID
	w.store.Crash()
	down.Store(true)
	<-time.After(away)
	down.Store(false)
	w.publish(50, 5)
	<-time.After(time.Second)
	if n := w.to.Len(); n != 100 {
		t.Errorf("a second after it answers %d of 100 are delivered:\n%s", n, log)
	}
	if now := r.Stats().ID; now == id {
		t.Error("the relay has the identity that it had")
	}
	v, err := w.store.Overview(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if len(v.Relays) != 1 {
		t.Errorf("%d relays live: one of them is a ghost", len(v.Relays))
	}
	stop()
	w.inOrder()
}
