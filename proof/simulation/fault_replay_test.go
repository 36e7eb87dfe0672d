package simulation_test

import (
	"testing"

	"github.com/postbag/postbag/proof/simulation"
)

// Replays are played beside takeovers, crashes and all else, to their end or until an operator ends them.
func TestReplaysSendWhatTheyMust(t *testing.T) {
	t.Parallel()
	var s simulation.Simulator
	through, cancelled := 0, 0
	for name, faults := range map[string]simulation.Faults{
		"alone":    simulation.Replays,
		"takeover": simulation.Replays | simulation.Kills | simulation.Stops | simulation.Pauses | simulation.Rejects | simulation.Crashes | simulation.LongTransactions | simulation.Rollbacks,
		"database": simulation.Replays | simulation.FailOvers | simulation.Restores | simulation.Moves | simulation.StoreClock | simulation.Commands | simulation.Damage,
	} {
		for seed := range seedsOf(t, 100) {
			o := simulation.DefaultOptions(seed)
			o.Faults, o.Drawn = faults, false
			r, err := s.Run(o)
			if err != nil {
				t.Fatal(err)
			}
			if r.Violation != nil {
				t.Fatalf("%s: %v\n%s\npostbag-sim %s -trace", name, r.Violation, r.Drawn, o.Arguments())
			}
			through, cancelled = through+r.Counts.Replays, cancelled+r.Counts.Cancelled
		}
	}
	if through < 20 || cancelled < 1 {
		t.Errorf("%d replays came to their end, and %d were ended before", through, cancelled)
	}
}
