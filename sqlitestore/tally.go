package sqlitestore

import "github.com/postbag/postbag/store"

// line names a line of the ledger.
type line struct {
	subscription, span int64
	fate               store.Fate
}

// tallies gathers what all settlements of a Turn add to the ledger, so that each
// line is written once. Sums are modulo 2^64.
type tallies map[line]store.Tally

func (s tallies) add(subscription int64, all []store.Tally) {
	for _, t := range all {
		at := line{subscription: subscription, span: t.Span, fate: t.Fate}
		sum := s[at]
		sum.Count += t.Count
		sum.SeqSum += t.SeqSum
		sum.IDSum += t.IDSum
		s[at] = sum
	}
}

// tally adds sums to the ledger.
func (t *transaction) tally(sums tallies) error {
	for at, sum := range sums {
		_, err := t.exec(sqlTally, at.subscription, at.span, int(at.fate), sum.Count,
			int64(sum.SeqSum>>32), int64(sum.SeqSum&0xffffffff),
			int64(sum.IDSum>>32), int64(sum.IDSum&0xffffffff))
		if err != nil {
			return err
		}
	}
	return nil
}
