package storekit

import (
	"cmp"
	"encoding/binary"
	"slices"

	"github.com/postbag/postbag/store"
)

// Sums are a count of messages, and the sums, modulo 2^64, of their seqs and of
// the last eight bytes of their ids: what the ledger is compared with.
type Sums struct{ Count, Seqs, IDs int64 }

// Add counts a message. id has 16 bytes.
func (s *Sums) Add(seq int64, id []byte) {
	s.Count++
	s.Seqs += seq
	s.IDs += int64(binary.BigEndian.Uint64(id[8:]))
}

// SpanOf returns the span of the ledger in which seq lies.
func SpanOf(seq int64) int64 { return (seq - 1) / store.TallySpan }

// Line names a line of the ledger. Only the store knows what Subscription and Shard
// mean.
type Line struct {
	Subscription, Shard, Span int64
	Fate                      store.Fate
}

// Tallies gathers what all settlements of a Turn add to the ledger, so that each
// line is written once. Sums are modulo 2^64.
type Tallies map[Line]store.Tally

// Add adds what a settlement says.
func (s Tallies) Add(subscription, shard int64, all []store.Tally) {
	for _, t := range all {
		at := Line{Subscription: subscription, Shard: shard, Span: t.Span, Fate: t.Fate}
		sum := s[at]
		sum.Count += t.Count
		sum.SeqSum += t.SeqSum
		sum.IDSum += t.IDSum
		s[at] = sum
	}
}

// Lines returns the lines sorted, so that two writers of the same lines do not deadlock.
func (s Tallies) Lines() []Line {
	out := make([]Line, 0, len(s))
	for at := range s {
		out = append(out, at)
	}
	slices.SortFunc(out, func(a, b Line) int {
		return cmp.Or(cmp.Compare(a.Subscription, b.Subscription), cmp.Compare(a.Span, b.Span),
			cmp.Compare(a.Fate, b.Fate), cmp.Compare(a.Shard, b.Shard))
	})
	return out
}
