package engine

// Tally is a line for the ledger: how many messages of a span had a fate, and the
// sums of their seqs and ids, modulo 2^64.
type Tally struct {
	Span          int64
	Fate          Fate
	Count         int64
	SeqSum, IDSum uint64
}

func (t *Tally) add(m *Message, sign int64) {
	t.Count += sign
	t.SeqSum += uint64(sign) * uint64(m.Seq)
	t.IDSum += uint64(sign) * m.Sum
}

// count adds a message to the draft's line of its span and fate; sign is +1 or
// -1.
func (d *draft) count(m *Message, fate Fate, span, sign int64) {
	n := (m.Seq - 1) / span
	for i := range d.tally {
		if t := &d.tally[i]; t.Span == n && t.Fate == fate {
			t.add(m, sign)
			return
		}
	}
	t := Tally{Span: n, Fate: fate}
	t.add(m, sign)
	d.tally = append(d.tally, t)
}

func (f *Flow) tallied(fate Fate) {
	switch fate {
	case Delivered:
		f.stats.Delivered++
	case Filtered:
		f.stats.Filtered++
	case Discarded:
		f.stats.Discarded++
	case WasParked:
	}
}
