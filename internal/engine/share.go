package engine

import (
	"cmp"
	"hash/fnv"
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
	var mine, free []int
	for _, s := range shards {
		switch s.Owner {
		case me:
			mine = append(mine, s.Lo)
		case "":
			free = append(free, s.Lo)
		}
	}
	quota := quotaOf(me, relays, subscription, shards, gather)
	slices.SortFunc(mine, byAppeal(me, subscription))
	slices.SortFunc(free, byAppeal(me, subscription))
	if len(mine) >= quota {
		return nil, mine[quota:]
	}
	return free[:min(quota-len(mine), len(free))], nil
}

// quotaOf returns how many shards me is to hold in the end.
func quotaOf(me string, relays []string, subscription string, shards []Holding, gather bool) int {
	held := make(map[string]int, len(relays))
	for _, s := range shards {
		held[s.Owner]++
	}
	ranked := slices.Clone(relays)
	slices.SortFunc(ranked, func(a, b string) int {
		return cmp.Or(
			cmp.Compare(held[b], held[a]),
			cmp.Compare(score(b, subscription, -1), score(a, subscription, -1)),
			cmp.Compare(a, b))
	})
	rank := slices.Index(ranked, me)
	switch {
	case rank < 0 || gather && rank > 0:
		return 0
	case gather:
		return len(shards)
	case rank < len(shards)%len(relays):
		return len(shards)/len(relays) + 1
	default:
		return len(shards) / len(relays)
	}
}

// byAppeal orders shards by how gladly a relay has them.
func byAppeal(relay, subscription string) func(a, b int) int {
	return func(a, b int) int {
		return cmp.Or(
			cmp.Compare(score(relay, subscription, b), score(relay, subscription, a)),
			cmp.Compare(a, b))
	}
}

// score is a number that looks drawn by chance and is the same on every relay.
func score(relay, subscription string, lo int) uint64 {
	h := fnv.New64a()
	for _, part := range []string{relay, "\x00", subscription, "\x00", strconv.Itoa(lo)} {
		_, _ = h.Write([]byte(part))
	}
	// FNV alone hardly moves the high bits for the last byte: mix (MurmurHash3's
	// finalizer, A. Appleby).
	x := h.Sum64()
	x = (x ^ x>>33) * 0xff51afd7ed558ccd
	x = (x ^ x>>33) * 0xc4ceb9fe1a85ec53
	return x ^ x>>33
}
