package faketime_test

import (
	"fmt"
	"os"
	"testing"

	"github.com/postbag/postbag/proof/faketime"
)

// The real relay loses nothing, keeps order and sends again only what a fault
// explains, whatever happens to relays, store, brokers and shards.
func TestTheRelayKeepsItsPromisesThroughFaults(t *testing.T) {
	t.Parallel()
	play(t, faketime.Faults, 25)
}

// Relays that stop and start, drain and change shards, and nothing else, have nothing
// sent twice.
func TestRestartsOfRelaysRepeatNothing(t *testing.T) {
	t.Parallel()
	play(t, faketime.Restarts, 15)
}

// play plays so many seeds, a third of them with the race detector, and forty times as many with POSTBAG_FULL=1.
func play(t *testing.T, kind faketime.Kind, seeds int) {
	t.Helper()
	if os.Getenv("POSTBAG_FULL") == "1" {
		seeds *= 40
	} else {
		seeds /= slowness
	}
	var all faketime.Counts
	for seed := range uint64(seeds) {
		t.Run(fmt.Sprintf("seed %d", seed), func(t *testing.T) {
			r := faketime.Run(t, faketime.Options{Seed: seed, Kind: kind})
			for _, failure := range r.Failures {
				t.Error(failure)
			}
			if t.Failed() {
				t.Logf("drawn: %s\nagain: go run ./cmd/postbag-faketime -kind %s -seed %d -times 100   (in the folder proof)", r.Drawn, kind, seed)
			}
			all.Add(r.Counts)
		})
	}
	t.Logf("%d runs: %s", seeds, &all)
}

func TestAKindOfRunThatThereIsNotIsNamed(t *testing.T) {
	t.Parallel()
	if r := faketime.Run(t, faketime.Options{Kind: "brave"}); len(r.Failures) != 1 {
		t.Errorf("it gave %q", r.Failures)
	}
}
