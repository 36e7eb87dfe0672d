package simulation

import (
	"testing"
	"time"
)

// With kills alone, and what producers do, the verdict on a run wants every takeover within TTL + 2 s.
func TestShardsOfAKilledRelayAreTakenOverInTime(t *testing.T) {
	t.Parallel()
	var s Simulator
	takeovers := 0
	s.also = func(w *world) {
		if w.plan.takeover() != w.plan.ttl+2*time.Second {
			t.Fatalf("takeovers may take %v", w.plan.takeover())
		}
		takeovers += w.recorders.takeovers
	}
	for seed := range uint64(150) {
		o := DefaultOptions(seed)
		o.Faults, o.Drawn, o.Mode = clean, false, []Mode{Swarm, Safety}[seed%2]
		r, err := s.Run(o)
		if err != nil {
			t.Fatal(err)
		}
		if r.Violation != nil {
			t.Fatalf("%v\n%s\npostbag-sim %s -trace", r.Violation, r.Drawn, o.Arguments())
		}
	}
	if takeovers < 1000 {
		t.Errorf("there were %d takeovers: that shows little", takeovers)
	}
}
