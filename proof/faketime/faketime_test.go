package faketime_test

import (
	"context"
	"fmt"
	"os"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// The real relay loses nothing, keeps order and sends again only what a fault
// explains, whatever happens to relays, store and broker.
func TestTheRelayKeepsItsPromisesThroughFaults(t *testing.T) {
	t.Parallel()
	runs := 100
	if os.Getenv("POSTBAG_FULL") == "1" {
		runs = 5000
	}
	for seed := range uint64(runs) {
		t.Run(fmt.Sprintf("seed %d", seed), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { run(t, seed) })
		})
	}
}

// run plays a world: half a minute of trouble, then calm until all is delivered.
func run(t *testing.T, seed uint64) {
	t.Helper()
	w := newWorld(t, seed)
	for range 1 + w.chance.n(3) {
		w.relays = append(w.relays, w.start())
	}
	ctx, cancel := context.WithCancel(context.Background())
	var producers sync.WaitGroup
	for i := range 3 {
		producers.Go(func() { w.produce(ctx, i+1) })
	}
	w.setRough(true)
	w.trouble(30 * time.Second)
	w.setRough(false)
	cancel()
	producers.Wait()
	for deadline := time.Now().Add(30 * time.Minute); w.undelivered() > 0 && time.Now().Before(deadline); {
		pause(time.Second)
	}
	if n := w.undelivered(); n > 0 {
		t.Errorf("%d messages wait, 30 minutes after the last fault", n)
	}
	for _, r := range w.relays {
		w.end(r)
	}
	w.judge()
}
