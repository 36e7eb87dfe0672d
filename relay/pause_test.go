package relay_test

import (
	"testing"
	"testing/synctest"
	"time"

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
