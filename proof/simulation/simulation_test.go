package simulation_test

import (
	"bytes"
	"math/bits"
	"testing"

	"github.com/postbag/postbag/proof/simulation"
)

// play makes runs of some seeds, and fails at those that break a promise.
func play(t *testing.T, from, seeds uint64, options func(seed uint64) simulation.Options) {
	t.Helper()
	var s simulation.Simulator
	broken := 0
	for seed := from; seed < from+seeds && broken < 3; seed++ {
		o := options(seed)
		r, err := s.Run(o)
		if err != nil {
			t.Fatal(err)
		}
		if r.Violation != nil {
			broken++
			t.Errorf("%v\n%s\npostbag-sim %s -trace", r.Violation, r.Drawn, o.Arguments())
		}
	}
}

func seedsOf(t *testing.T, seeds uint64) uint64 {
	t.Helper()
	if testing.Short() {
		return seeds / 5
	}
	return seeds
}

func TestThePromisesHoldUnderRandomFaults(t *testing.T) {
	t.Parallel()
	play(t, 0, seedsOf(t, 1000), simulation.DefaultOptions)
}

func TestThePromisesHoldWithEveryKindOfFault(t *testing.T) {
	t.Parallel()
	play(t, 0, seedsOf(t, 100), func(seed uint64) simulation.Options {
		o := simulation.DefaultOptions(seed)
		o.Mode = simulation.Liveness
		return o
	})
}

func TestNothingIsLostWhileFaultsGoOn(t *testing.T) {
	t.Parallel()
	play(t, 0, seedsOf(t, 100), func(seed uint64) simulation.Options {
		o := simulation.DefaultOptions(seed)
		o.Mode = simulation.Safety
		return o
	})
}

func TestThePromisesHoldWhereAttemptsAreCountedBeforeCalls(t *testing.T) {
	t.Parallel()
	for _, mode := range []simulation.Mode{simulation.Swarm, simulation.Liveness, simulation.Safety} {
		play(t, 0, seedsOf(t, 200), func(seed uint64) simulation.Options {
			o := simulation.DefaultOptions(seed)
			o.Mode, o.CountFirst = mode, true
			return o
		})
	}
}

func TestThePromisesHoldWhereTheDestinationIsAHandler(t *testing.T) {
	t.Parallel()
	for mode, seeds := range map[simulation.Mode]uint64{simulation.Swarm: 250, simulation.Liveness: 40, simulation.Safety: 40} {
		play(t, 0, seedsOf(t, seeds), func(seed uint64) simulation.Options {
			o := simulation.DefaultOptions(seed)
			o.Mode, o.Handlers = mode, true
			return o
		})
	}
}

// Seeds that found something, and what it was.
func TestSeedsThatFoundADefect(t *testing.T) {
	t.Parallel()
	for name, o := range map[string]simulation.Options{
		"a loop that had to wait for its store woke 5,000 times a second":                        {Seed: 0},
		"the look at the epoch and the read of an idle relay were two turns":                     {Seed: 190},
		"a parked message in hand was sent while a reshape was on its way":                       {Seed: 3375},
		"a postponed parked message stood behind one that had no place":                          {Seed: 18916},
		"a transaction took a message from the middle of a window":                               {Seed: 4402},
		"a lost settlement was not followed by a heartbeat":                                      {Seed: 2306},
		"an identity had two heartbeats out, and took back twice what it was to give":            {Seed: 291, Mode: simulation.Liveness},
		"a poll after a fail-over in a copied database had no bound":                             {Seed: 66, Mode: simulation.Liveness},
		"the simulator forgot a lost shard by the range that had come in its place":              {Seed: 17561},
		"the simulator did not wait for heartbeats that a clock set back kept good":              {Seed: 26691},
		"what a restored store had in flight stayed so":                                          {Seed: 17381},
		"a shard that came late took the slots of others with it":                                {Seed: 19314},
		"the simulator knew nothing of a command to discard that a restored store had forgotten": {Seed: 2684},
		"a relay did not see that its shards were set back, and asked for a reshape":             {Seed: 36884},
		"a parked message that a fail-over brought back stood behind later ones of its key":      {Seed: 199239},
		"the same, in a store with ranges":                                                       {Seed: 72202},
		"a lane forgot what is in the broker while it was down":                                  {Seed: 104428},
		"the simulator excused no duplicate of what was out while a database was copied":         {Seed: 2001165, Mode: simulation.Safety},
		"a lane forgot what waits behind a dead message":                                         {Seed: 8053474, Faults: simulation.Topics - 1},
		"the simulator excused no duplicate of what was out while a database was set back":       {Seed: 20003559, Faults: simulation.Topics - 1},
		"the simulator took a copied row for one of a transaction that runs":                     {Seed: 40671},
		"what was read before a fail-over was sent as of the life behind it":                     {Seed: 61041, Faults: simulation.Topics - 1},
		"the simulator judged a rest in which shards had just changed hands":                     {Seed: 156413},
		"the simulator judged a rest into which a heartbeat of a killed relay came":              {Seed: 878, Mode: simulation.Liveness, Faults: simulation.Topics - 1},
		"the simulator gave no time to a delivery behind a heartbeat of a clock set back":        {Seed: 13422, Mode: simulation.Liveness, Faults: simulation.Topics - 1},
		"the simulator sent what was numbered again for ever after its process had ended":        {Seed: 64866, Faults: simulation.Topics - 1},
		"the simulator sent what was numbered again once more for each closed connection":        {Seed: 51220, Faults: simulation.Topics - 1},
		"the simulator gave the first life of a database the number of none":                     {Seed: 134519, Faults: simulation.Topics - 1},
		"two topics that took turns were not asked for in all shards under strict order":         {Seed: 108549, Faults: simulation.Damage<<1 - 1},
		"a row that cannot be read was charged with quick attempts that nobody made":             {Seed: 75, Mode: simulation.Safety, Faults: simulation.Damage<<1 - 1},
		"held messages that all waited behind a dead one ended the reading of a new owner":       {Seed: 30012572, Faults: simulation.Damage<<1 - 1},
		"a suspect without a key began to block its shard, and messages went on beside it":       {Seed: 862, Faults: simulation.Unshaped<<1 - 1, Handlers: true},
		"a suspect waited behind another parked message, and that for the suspect":               {Seed: 106859, Faults: simulation.Unshaped<<1 - 1, CountFirst: true},
		"a topic that worked again was kept for good":                                            {Seed: 201556, Faults: simulation.Unshaped<<1 - 1, Handlers: true},
		"a counted call had a parked message and one whose row had to wait for it":               {Seed: 107425, Faults: simulation.Unshaped<<1 - 1, CountFirst: true},
		"the simulator judged the order of what a filter had refused before":                     {Seed: 1358, Faults: simulation.Superseding<<1 - 1},
		"a replay that superseded never tried again what was rejected before its end":            {Seed: 924, Faults: simulation.Replays<<1 - 1},
		"the simulator forgot what a relay had meant that began again, with its turn on the way": {Seed: 877, Faults: simulation.Replays<<1 - 1},
		"the simulator knew nothing of counted attempts in a replay that an operator ended":      {Seed: 61, Faults: simulation.Replays<<1 - 1, CountFirst: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			o := o
			if o.Faults == 0 {
				o.Faults = simulation.EarlierFaults
			}
			o.Drawn = true
			play(t, o.Seed, 1, func(uint64) simulation.Options { return o })
		})
	}
}

func TestTheSameSeedIsTheSameRun(t *testing.T) {
	t.Parallel()
	var first, second simulation.Simulator
	for seed := range seedsOf(t, 50) {
		var one, two bytes.Buffer
		o := simulation.DefaultOptions(seed)
		o.Trace = &one
		a, err := first.Run(o)
		if err != nil {
			t.Fatal(err)
		}
		o.Trace = &two
		b, err := second.Run(o)
		if err != nil {
			t.Fatal(err)
		}
		o.Trace = nil
		c, err := second.Run(o)
		if err != nil {
			t.Fatal(err)
		}
		if a.Hash != b.Hash || a.Hash != c.Hash || !bytes.Equal(one.Bytes(), two.Bytes()) {
			t.Fatalf("seed %d: hashes %x, %x and %x, traces of %d and %d bytes", seed, a.Hash, b.Hash, c.Hash, one.Len(), two.Len())
		}
	}
}

func TestANewerRelayWorksWhatAnOlderOneCannotRead(t *testing.T) {
	t.Parallel()
	var s simulation.Simulator
	set := 0
	for seed := range seedsOf(t, 200) {
		o := simulation.DefaultOptions(seed)
		o.Faults, o.Drawn = simulation.UnreadableFilters|simulation.Kills|simulation.Stops|simulation.Rejects, false
		r, err := s.Run(o)
		if err != nil {
			t.Fatal(err)
		}
		if r.Violation != nil {
			t.Fatalf("%v\n%s\npostbag-sim %s -trace", r.Violation, r.Drawn, o.Arguments())
		}
		set += r.Counts.Faults[bits.TrailingZeros64(uint64(simulation.UnreadableFilters))]
	}
	if set == 0 {
		t.Error("no filter was set while messages were written")
	}
}
