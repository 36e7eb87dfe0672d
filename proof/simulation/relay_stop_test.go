package simulation

import "testing"

// stops are graceful stops, beside messages that the destination rejects, has no place
// for, does not take for a while, or never answers.
const stops = Stops | Rollbacks | LongTransactions | Rejects | Silence | Lies | Unroutable | Blocked | Throttled | Reshapes

// With stops and a destination that makes trouble, and a store that answers, every stop
// gives everything back in time, and nothing that was accepted is sent again.
func TestAStopGivesAllShardsBackWhateverIsInFlight(t *testing.T) {
	t.Parallel()
	var s Simulator
	stopped := 0
	s.also = func(w *world) { stopped += w.counts.Stops }
	for seed := range uint64(300) {
		o := DefaultOptions(seed)
		o.Faults, o.Drawn, o.Mode = stops, seed%2 == 0, []Mode{Swarm, Safety}[seed/2%2]
		r, err := s.Run(o)
		if err != nil {
			t.Fatal(err)
		}
		if r.Violation != nil {
			t.Fatalf("%v\n%s\npostbag-sim %s -trace", r.Violation, r.Drawn, o.Arguments())
		}
	}
	if stopped < 300 {
		t.Errorf("%d relays stopped with messages in hand: that shows little", stopped)
	}
}

// When all other relays have stopped, one that drains leaves nothing that can be delivered, whatever it began with.
func TestADrainLeavesNothingThatCanBeDelivered(t *testing.T) {
	t.Parallel()
	var s Simulator
	drained := 0
	s.also = func(w *world) { drained += w.counts.Drains }
	for seed := range uint64(200) {
		o := DefaultOptions(seed)
		o.Faults, o.Drawn = stops|Drains|Kills|Commands|Housekeeping, seed%2 == 0
		r, err := s.Run(o)
		if err != nil {
			t.Fatal(err)
		}
		if r.Violation != nil {
			t.Fatalf("%v\n%s\npostbag-sim %s -trace", r.Violation, r.Drawn, o.Arguments())
		}
	}
	if drained < 100 {
		t.Errorf("%d relays drained alone: that shows little", drained)
	}
}
