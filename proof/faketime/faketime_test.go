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
	play(t, 25, func(w *world) {
		w.setRough(true)
		w.trouble(30 * time.Second)
		w.setRough(false)
	})
}

// Relays that stop and start, and nothing else, have nothing sent twice.
func TestRestartsOfRelaysRepeatNothing(t *testing.T) {
	t.Parallel()
	play(t, 15, func(w *world) { w.restarts(30 * time.Second) })
}

// play runs worlds from so many seeds, and forty times as many with POSTBAG_FULL=1.
func play(t *testing.T, seeds int, trouble func(*world)) {
	t.Helper()
	if os.Getenv("POSTBAG_FULL") == "1" {
		seeds *= 40
	}
	for seed := range uint64(seeds) {
		t.Run(fmt.Sprintf("seed %d", seed), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { newWorld(t, seed).run(trouble) })
		})
	}
}

// run plays a world: half a minute of trouble, then calm until all is delivered.
func (w *world) run(trouble func(*world)) {
	w.t.Helper()
	for range 1 + w.chance.n(3) {
		w.relays = append(w.relays, w.start())
	}
	ctx, cancel := context.WithCancel(context.Background())
	var producers sync.WaitGroup
	for i := range 3 {
		producers.Go(func() { w.produce(ctx, i+1) })
	}
	trouble(w)
	cancel()
	producers.Wait()
	for deadline := time.Now().Add(30 * time.Minute); w.undelivered() > 0 && time.Now().Before(deadline); {
		pause(time.Second)
	}
	if n := w.undelivered(); n > 0 {
		w.t.Errorf("%d messages wait, 30 minutes after the last fault", n)
	}
	for _, r := range w.relays {
		w.end(r)
	}
	w.judge()
}
