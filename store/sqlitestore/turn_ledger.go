package sqlitestore

import (
	"github.com/postbag/postbag/store/sqlkit"
	"github.com/postbag/postbag/store/storekit"
)

// tally adds sums to the ledger.
func tally(t *sqlkit.Tx, sums storekit.Tallies) error {
	for _, at := range sums.Lines() {
		sum := sums[at]
		_, err := t.Exec(sqlTally, at.Subscription, at.Span, int(at.Fate), sum.Count,
			int64(sum.SeqSum>>32), int64(sum.SeqSum&0xffffffff),
			int64(sum.IDSum>>32), int64(sum.IDSum&0xffffffff))
		if err != nil {
			return err
		}
	}
	return nil
}
