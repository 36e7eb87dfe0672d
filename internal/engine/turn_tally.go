package engine

import (
	"encoding/binary"

	"github.com/postbag/postbag"
	"github.com/postbag/postbag/store"
)

// addTo adds a message to a line of the ledger; sign is +1 or -1.
func addTo(t *store.Tally, seq int64, id postbag.ID, sign int64) {
	t.Count += sign
	t.SeqSum += uint64(sign) * uint64(seq)
	t.IDSum += uint64(sign) * binary.BigEndian.Uint64(id[8:])
}

// count adds a message to the draft's line of its span and fate; sign is +1 or
// -1.
func (d *draft) count(seq int64, id postbag.ID, fate store.Fate, span, sign int64) {
	n := (seq - 1) / span
	for i := range d.tally {
		if t := &d.tally[i]; t.Span == n && t.Fate == fate {
			addTo(t, seq, id, sign)
			return
		}
	}
	t := store.Tally{Span: n, Fate: fate}
	addTo(&t, seq, id, sign)
	d.tally = append(d.tally, t)
}

func (f *Flow) tallied(fate store.Fate) {
	switch fate {
	case store.TallyDelivered:
		f.stats.Delivered++
	case store.TallyFiltered:
		f.stats.Filtered++
	case store.TallyDiscarded:
		f.stats.Discarded++
	case store.TallyParked, store.TallySuperseded: // the store counts those
	}
}
