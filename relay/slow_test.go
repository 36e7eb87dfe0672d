package relay_test

import (
	"testing"

	"github.com/postbag/postbag/broker"
	"github.com/postbag/postbag/broker/membroker"
	"github.com/postbag/postbag/relay"
	"github.com/postbag/postbag/store"
	"github.com/postbag/postbag/store/memstore"
)

func TestALateAnswerDelaysOnlyItsKey(t *testing.T) {
	t.Parallel()
	release := make(chan struct{})
	w := newWorld(t, memstore.Options{}, membroker.Options{Decide: func(m broker.Delivery, _ int) membroker.Act {
		if string(m.Payload) == "key-3/1" {
			return membroker.Act{Hold: release}
		}
		return membroker.Act{}
	}})
	w.publish(2000, 10)
	stop := w.run(w.relay(relay.Options{}))
	w.delivered(1801) // all but what waits behind the held one
	w.eventually("the held message is parked as in flight, the rest of its key behind it", func() bool {
		v := w.overview()
		return v.Parked[store.ParkInFlight] == 1 && v.Parked[store.ParkBlocked] == 198 && v.Backlog == 0
	})
	w.inOrder("key-3")
	close(release)
	w.delivered(2000)
	stop()
	w.inOrder()
	if n := w.to.Repeats(); n != 0 {
		t.Errorf("%d duplicates", n)
	}
	if v := w.overview(); len(v.Parked) != 0 {
		t.Errorf("parked rows are left: %v", v.Parked)
	}
	for _, r := range w.to.Taken() {
		if r.Attempt != 1 {
			t.Fatalf("waiting counted an attempt: %d", r.Attempt)
		}
	}
}
