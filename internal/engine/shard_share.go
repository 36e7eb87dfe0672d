package engine

import (
	"cmp"
	"slices"
	"strconv"
)

// Holding is a shard of a subscription and who has it.
type Holding struct {
	Lo, Hi int
	// Owner is the id of the relay that holds the shard. Empty: free.
	Owner string
}

// Plan returns which free shards of a subscription relay me takes and which of
// its own it gives back, as lower bounds. relays are the ids of the live relays
// that can work the subscription; if me is not among them, it gives everything.
//
// Every relay plans alone, from a view of its own that may be old, and still all
// of them come to rest: each holds the same number of shards, the remainder
// going, one each, to those that hold the most already. A shard moves only from
// a relay above its quota to one below. Ties, and the order in which free shards
// are taken, come from hashes (rendezvous hashing, Thaler and Ravishankar,
// 1998), so that relays seldom want the same shard and no relay is the first of
// every subscription.
//
// gather brings all shards to one relay, the one that holds the most: for a
// store that expects one owner, and before a reshape.
func Plan(me string, relays []string, subscription string, shards []Holding, gather bool) (take, give []int) {
	take, give, _ = Share(me, relays, subscription, shards, gather)
	return take, give
}

// Share is Plan, and says beside whether a relay other than me has shards to give.
func Share(me string, relays []string, subscription string, shards []Holding, gather bool) (take, give []int, expect bool) {
	var mine, free []int
	for _, s := range shards {
		switch s.Owner {
		case me:
			mine = append(mine, s.Lo)
		case "":
			free = append(free, s.Lo)
		}
	}
	quota := 0
	for rank, c := range ranking(relays, subscription, shards) {
		its := quotaOf(rank, len(relays), len(shards), gather)
		if c.relay == me {
			quota = its
		} else {
			expect = expect || c.held > its
		}
	}
	sortByPreference(me, subscription, mine)
	sortByPreference(me, subscription, free)
	if len(mine) >= quota {
		return nil, mine[quota:], expect
	}
	return free[:min(quota-len(mine), len(free))], nil, expect
}

// candidate is a relay as it is ranked.
type candidate struct {
	relay string
	held  int
	score uint64
}

// ranking sorts relays by how many shards they hold. Those of the first ranks are
// to hold one more than the others, if the shards cannot be shared evenly.
func ranking(relays []string, subscription string, shards []Holding) []candidate {
	ranked := make([]candidate, len(relays))
	for i, r := range relays {
		ranked[i] = candidate{relay: r, score: score(r, subscription, -1)}
		for k := range shards {
			if shards[k].Owner == r {
				ranked[i].held++
			}
		}
	}
	slices.SortFunc(ranked, func(a, b candidate) int {
		switch {
		case a.held != b.held:
			return b.held - a.held
		case a.score != b.score:
			return cmp.Compare(b.score, a.score)
		}
		return cmp.Compare(a.relay, b.relay)
	})
	return ranked
}

// quotaOf returns how many shards the relay of a rank is to hold in the end.
func quotaOf(rank, relays, shards int, gather bool) int {
	switch {
	case gather && rank > 0:
		return 0
	case gather:
		return shards
	case rank < shards%relays:
		return shards/relays + 1
	default:
		return shards / relays
	}
}

// sortByPreference sorts shards by how gladly a relay has them.
func sortByPreference(relay, subscription string, los []int) {
	if len(los) < 2 {
		return
	}
	type choice struct {
		lo    int
		score uint64
	}
	choices := make([]choice, len(los))
	for i, lo := range los {
		choices[i] = choice{lo, score(relay, subscription, lo)}
	}
	slices.SortFunc(choices, func(a, b choice) int {
		if a.score != b.score {
			return cmp.Compare(b.score, a.score)
		}
		return a.lo - b.lo
	})
	for i := range choices {
		los[i] = choices[i].lo
	}
}

// score is a number that looks drawn by chance and is the same on every relay.
func score(relay, subscription string, lo int) uint64 {
	x := fnv1a(fnv1a(fnv1a(fnv1a(14695981039346656037, relay), "\x00"), subscription), "\x00")
	var digits [20]byte
	for _, b := range strconv.AppendInt(digits[:0], int64(lo), 10) {
		x = (x ^ uint64(b)) * fnvPrime
	}
	// FNV alone hardly moves the high bits for the last byte: mix (MurmurHash3's
	// finalizer, A. Appleby).
	x = (x ^ x>>33) * 0xff51afd7ed558ccd
	x = (x ^ x>>33) * 0xc4ceb9fe1a85ec53
	return x ^ x>>33
}

// fnv1a goes on with a hash (G. Fowler, L. C. Noll, K. Vo).
func fnv1a(h uint64, s string) uint64 {
	for i := range len(s) {
		h = (h ^ uint64(s[i])) * fnvPrime
	}
	return h
}

const fnvPrime = 1099511628211
