package storekit

import (
	"slices"

	"github.com/postbag/postbag/store"
)

// SlotSet is the slots of a request.
type SlotSet struct {
	// Ranges are sorted, and joined where they touched.
	Ranges []store.Slots
	// All: it is every slot of a box.
	All bool
}

// SlotsOf joins ranges that touch or overlap.
func SlotsOf(ranges []store.Slots) SlotSet {
	sorted := slices.Clone(ranges)
	slices.SortFunc(sorted, func(a, b store.Slots) int { return a.Lo - b.Lo })
	var joined []store.Slots
	for _, r := range sorted {
		if n := len(joined); n > 0 && r.Lo <= joined[n-1].Hi {
			joined[n-1].Hi = max(joined[n-1].Hi, r.Hi)
		} else {
			joined = append(joined, r)
		}
	}
	all := len(joined) == 1 && joined[0].Lo <= 0 && joined[0].Hi >= store.SlotCount
	return SlotSet{Ranges: joined, All: all}
}

// Contains says whether a slot is in s.
func (s SlotSet) Contains(slot int) bool {
	if s.All {
		return true
	}
	for _, r := range s.Ranges {
		if r.Contains(slot) {
			return true
		}
	}
	return false
}

// Count is how many slots there are in s.
func (s SlotSet) Count() int {
	n := 0
	for _, r := range s.Ranges {
		n += r.Hi - r.Lo
	}
	return n
}

// Hashes is a set of key hashes, in the order in which they came. The zero Hashes
// is empty.
type Hashes struct {
	List []uint64
	has  map[uint64]bool
}

// Add adds a hash, unless it is there. Zero, which orders nothing, is left out.
func (h *Hashes) Add(hash uint64) {
	if hash == 0 || h.has[hash] {
		return
	}
	if h.has == nil {
		h.has = make(map[uint64]bool)
	}
	h.has[hash] = true
	h.List = append(h.List, hash)
}

// Touched returns the hashes of the rows that a settlement parks or resolves.
func Touched(s *store.Settlement) Hashes {
	var h Hashes
	for i := range s.Park {
		h.Add(s.Park[i].Hash)
	}
	for _, r := range s.Resolve {
		h.Add(r.Hash)
	}
	return h
}
