package engine

import (
	"math/rand/v2"
	"testing"
)

func TestATableOfChainsFindsWhatAMapWouldFind(t *testing.T) {
	t.Parallel()
	for seed := range uint64(50) {
		chance := rand.New(rand.NewPCG(seed, 1))
		var table chainTable
		expected := map[uint64]*chain{}
		keys := 1 + chance.Uint64N(300)
		for step := range 3000 {
			key := chance.Uint64N(keys) << chance.IntN(3) // few keys, and some that end alike
			switch c := expected[key]; {
			case table.get(key) != c:
				t.Fatalf("seed %d, step %d: the table has another chain for key %d than was put in", seed, step, key)
			case c == nil && chance.IntN(2) == 0:
				expected[key] = &chain{key: key}
				table.put(expected[key])
			case chance.IntN(2) == 0:
				delete(expected, key)
				table.remove(key)
			}
		}
		seen := 0
		table.each(func(c *chain) {
			seen++
			if expected[c.key] != c {
				t.Errorf("seed %d: chain %d is in the table, and was taken out", seed, c.key)
			}
		})
		if seen != len(expected) || table.len() != len(expected) {
			t.Errorf("seed %d: %d chains are in the table, which counts %d; %d were left in", seed, seen, table.len(), len(expected))
		}
	}
}
