package storekit

import (
	"maps"
	"slices"

	"github.com/postbag/postbag/store"
)

// Discarding returns the seqs of the messages that a settlement discards, if they are
// among those that it resolves. Nil: none.
func Discarding(done []store.Done) map[int64]bool {
	var out map[int64]bool
	for _, d := range done {
		if d.Kind != store.Discard {
			continue
		}
		if out == nil {
			out = make(map[int64]bool)
		}
		out[d.Seq] = true
	}
	return out
}

// DiscardedPending returns the messages that a settlement discards and does not resolve:
// those that had no parked row. discarding is the result of Discarding.
func DiscardedPending(s *store.Settlement, discarding map[int64]bool) []int64 {
	left := maps.Clone(discarding)
	for _, r := range s.Resolve {
		delete(left, r.Seq)
	}
	return slices.Sorted(maps.Keys(left))
}

// MostSuperseded is how many rows one settlement of a turn supersedes at most before it is applied: all settlements
// of a turn share a transaction, and so its bound. It is at least one.
func MostSuperseded(turn []store.Settlement) int64 {
	n := 0
	for i := range turn {
		n += min(len(turn[i].Supersede), 1)
	}
	return int64(max(store.MostSuperseded/max(n, 1), 1))
}

// Rewritten returns the seqs of the rows that a settlement parks or resolves, if it
// supersedes others. Nil: none.
func Rewritten(s *store.Settlement) map[int64]bool {
	if len(s.Supersede) == 0 || len(s.Park)+len(s.Resolve) == 0 {
		return nil
	}
	out := make(map[int64]bool, len(s.Park)+len(s.Resolve))
	for i := range s.Park {
		out[s.Park[i].Seq] = true
	}
	for _, r := range s.Resolve {
		out[r.Seq] = true
	}
	return out
}
