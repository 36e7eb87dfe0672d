package simulation

import (
	"strings"
	"testing"
	"time"

	"github.com/postbag/postbag/internal/core"
	"github.com/postbag/postbag/store"
)

// delivered is a world of two relays, without faults, in which everything is delivered.
func delivered(t *testing.T) *world {
	t.Helper()
	w := newWorld()
	w.reset(false)
	o := DefaultOptions(1)
	o.Faults, o.Drawn, o.Relays, o.Messages = 0, false, 2, 1
	o.normal()
	w.begin(o)
	w.run("writing", writeLimit, w.producers.done)
	w.calmDown()
	w.run("delivering", deliverLimit, w.done(func() bool { return true }))
	if w.failed != nil {
		t.Fatal(w.failed)
	}
	return w
}

func TestTheIdleCheckWaitsForHeartbeatsOfKilledRelaysToExpire(t *testing.T) {
	t.Parallel()
	w := delivered(t)
	w.newRelay()
	gone := w.relays[len(w.relays)-1]
	first := &beating{beat: &core.Heartbeat{Beat: store.Beat{Relay: gone.id(), New: true, TTL: w.plan.ttl}}}
	first.asking = asking{r: gone, errand: first}
	first.send(2*restTime - time.Second) // while it would be watched
	gone.exit()
	w.rest()
	if w.failed != nil {
		t.Fatal(w.failed)
	}
	if h := w.server.heartbeat(gone.id()); h == nil || !h.dead {
		t.Fatalf("what was watched had the heartbeat %+v of a relay that was killed before", h)
	}
}

func TestTheIdleCheckFindsARelayThatNeverPauses(t *testing.T) {
	t.Parallel()
	w := delivered(t)
	r := w.relays[0]
	var again func()
	again = func() {
		r.beat(&core.Heartbeat{Beat: store.Beat{Relay: r.id(), TTL: w.plan.ttl}})
		w.after(50*time.Millisecond, r, again)
	}
	again()
	w.rest()
	if w.failed == nil || w.failed.Promise != "P8" || !strings.Contains(w.failed.What, "heartbeats") {
		t.Fatalf("a relay makes twenty heartbeats a second, and what was found is %v", w.failed)
	}
}
