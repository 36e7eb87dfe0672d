package simulation

import (
	"testing"
	"time"
)

func TestARestIsNotWatchedUntilHeartbeatsOfTheDeadHaveComeAndRunOut(t *testing.T) {
	t.Parallel()
	w := &world{}
	w.reset(false)
	o := DefaultOptions(1)
	o.Faults, o.Drawn, o.Relays, o.Messages = 0, false, 2, 1
	o.normal()
	w.begin(o)
	w.run("writing", writeLimit, w.producers.done)
	w.calmDown()
	w.run("delivering", deliverLimit, w.done(func() bool { return true }))

	w.newRelay()
	gone := w.relays[len(w.relays)-1]
	first := &beating{beatCall: beatCall{relay: gone.id, fresh: true, ttl: w.plan.ttl}}
	first.asking = asking{r: gone, errand: first}
	first.send(2*restTime - time.Second) // while it would be watched
	gone.exit()
	w.rest()
	if w.failed != nil {
		t.Fatal(w.failed)
	}
	if h := w.server.heartbeat(gone.id); h == nil || !h.dead {
		t.Fatalf("what was watched had the heartbeat %+v of a relay that was killed before", h)
	}
}
