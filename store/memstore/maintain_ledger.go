package memstore

import (
	"encoding/binary"

	"github.com/postbag/postbag/store"
)

// sums are a line of the ledger. They are added modulo 2^64.
type sums struct {
	count    int64
	seq, ids uint64
}

// tallyKey names a line of a subscription's ledger.
type tallyKey struct {
	span int64
	fate store.Fate
}

func spanOf(seq int64) int64 { return (seq - 1) / store.TallySpan }

func sumOf(r *row) sums {
	return sums{count: 1, seq: uint64(r.Seq), ids: binary.BigEndian.Uint64(r.ID[8:])}
}

func (a sums) add(b sums) sums { return sums{a.count + b.count, a.seq + b.seq, a.ids + b.ids} }
func (a sums) sub(b sums) sums { return sums{a.count - b.count, a.seq - b.seq, a.ids - b.ids} }

// tally adds to sub's ledger.
func (sub *subscription) tally(ts []store.Tally) {
	for _, t := range ts {
		k := tallyKey{t.Span, t.Fate}
		sub.tallies[k] = sub.tallies[k].add(sums{t.Count, t.SeqSum, t.IDSum})
	}
}

// tallied returns what the ledger has of a span, whatever its fate, with what an
// operator has accepted.
func (sub *subscription) tallied(span int64) (out sums) {
	out = sub.accepted[span]
	for fate := store.TallyDelivered; fate <= store.TallySuperseded; fate++ {
		out = out.add(sub.tallies[tallyKey{span, fate}])
	}
	return out
}

// count returns how many messages met a fate.
func (sub *subscription) count(fate store.Fate) (n int64) {
	for k, v := range sub.tallies {
		if k.fate == fate {
			n += v.count
		}
	}
	return n
}

// passed returns what of a span sub's positions have passed since its start.
func (sub *subscription) passed(span int64) (sums, error) {
	at, err := sub.positions()
	if err != nil {
		return sums{}, err
	}
	out := sub.box.dropped[span].sub(sub.before[span])
	l := &sub.box.log
	end := min(l.last, (span+1)*store.TallySpan)
	for seq := l.skip(span*store.TallySpan + 1); seq <= end; seq = l.skip(seq + 1) {
		r := l.at(seq)
		if r == nil {
			continue
		}
		if p := at[sub.shardOf(r.Slot)]; p.passed(r) {
			out = out.add(sumOf(r))
		}
	}
	return out, nil
}
