package survival

import (
	"fmt"
	"testing"
	"time"

	"github.com/postbag/postbag/proof/internal/daemon"
)

// Item 7: a stop in the middle gives shards back without a duplicate, again and again.
func TestARollingRestartRepeatsNothing(t *testing.T) { //nolint:paralleltest // it has the machine to itself
	w := newWorld(t)
	ws := &writers{w: w, count: 8, keys: 30}
	relays := []*daemon.Process{w.start("r0", relayConfig{}), w.start("r1", relayConfig{})}
	finish := ws.meanwhile(t.Context())
	rounds := size(30)
	relays[0].Ready()
	relays[1].Ready()
	for n := range rounds {
		pause(2 * time.Second)
		i := n % 2
		begun := time.Now()
		relays[i].Stop()
		if took := time.Since(begun); took > 5*time.Second {
			t.Errorf("a stop took %v", took)
		}
		relays[i] = w.start(fmt.Sprintf("r%d", n+2), relayConfig{})
	}
	finish()
	all := w.expectOnce(ws, time.Minute)
	// The transactions take about 20 ms of it.
	within := time.Second
	if !full() {
		within = 10 * time.Second // a busy machine
	}
	took := longest(all)
	if t.Logf("the longest way from the database to the broker took %v", took); took > within {
		t.Errorf("a shutdown took %v", took)
	}
	for _, r := range relays {
		r.Stop()
	}
}
