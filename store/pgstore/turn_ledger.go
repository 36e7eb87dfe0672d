package pgstore

import (
	"cmp"
	"slices"

	"github.com/postbag/postbag/store"
)

// sums are a settlement's tallies. Those of one span and of the two common fates
// are kept in the shard's own row; the rest go to the ledger at once.
type sums struct {
	// span is the one that is kept; -1: none.
	span int64
	kept [2]store.Tally // delivered, filtered
	rest []store.Tally
}

// newSums adds tallies up, for each span and fate.
func newSums(ts []store.Tally) sums {
	out := sums{span: -1}
	for _, t := range ts {
		if t.Fate == store.TallyDelivered || t.Fate == store.TallyFiltered {
			out.span = max(out.span, t.Span)
		}
	}
	for _, t := range ts {
		if i := int(t.Fate - store.TallyDelivered); t.Span == out.span && (i == 0 || i == 1) {
			add(&out.kept[i], t)
			continue
		}
		out.put(t)
	}
	slices.SortFunc(out.rest, func(a, b store.Tally) int { return cmp.Or(cmp.Compare(a.Span, b.Span), cmp.Compare(a.Fate, b.Fate)) })
	return out
}

func (s *sums) put(t store.Tally) {
	for i := range s.rest {
		if s.rest[i].Span == t.Span && s.rest[i].Fate == t.Fate {
			add(&s.rest[i], t)
			return
		}
	}
	s.rest = append(s.rest, t)
}

// add adds b to a. Sums are modulo 2^64.
func add(a *store.Tally, b store.Tally) {
	a.Count += b.Count
	a.SeqSum += b.SeqSum
	a.IDSum += b.IDSum
}

// ledger returns the statement that writes what is not kept in the shards.
func (w *settling) ledger(s *Store, g group) group {
	var items []item
	for i := range w.sums {
		for k := range w.sums[i].rest {
			if w.shards[i] != 0 {
				items = append(items, item{i, k})
			}
		}
	}
	n := len(items)
	if n == 0 {
		return g
	}
	at := func(i int) *store.Tally { return &w.sums[items[i].settlement].rest[items[i].entry] }
	a := w.under(items)
	a.int8s(n, func(i int) int64 { return at(i).Span })
	a.int2s(n, func(i int) int { return int(at(i).Fate) })
	a.int8s(n, func(i int) int64 { return at(i).Count })
	a.int8s(n, func(i int) int64 { return int64(at(i).SeqSum) })
	a.int8s(n, func(i int) int64 { return int64(at(i).IDSum) })
	return append(g, call{st: s.statements.get("tally", ""), args: a})
}
