package memstore

import (
	"fmt"
	"time"

	"github.com/postbag/postbag/store"
	"github.com/postbag/postbag/store/storekit"
)

// letters writes the dead letters of a settlement that was just applied, in a transaction
// that begins and ends here. The error says which were not written. The caller holds s.mu.
func (s *Store) letters(sub *subscription, st *store.Settlement, now time.Time) error {
	if !storekit.HasLetters(st) {
		return nil
	}
	var none []int64
	var why error
	var box string
	xid := s.nextXID
	s.nextXID++
	for i := range st.Park {
		k := &st.Park[i]
		p := sub.lot.bySeq[k.Seq]
		if p == nil || !storekit.IsLetter(k) {
			continue
		}
		b, err := s.box(k.DeadTo)
		if err != nil {
			none, why, box = append(none, k.Seq), err, k.DeadTo
			continue
		}
		r := newRow(storekit.DeadLetter(&st.Lease, k, &p.row.Record, now), now.UTC())
		if err := b.place(r); err != nil {
			none, why, box = append(none, k.Seq), err, k.DeadTo
			continue
		}
		r.xid = xid
		b.log.add(r)
	}
	s.lastDone = max(s.lastDone, xid)
	s.wake()
	if why == nil {
		return nil
	}
	what := storekit.NoLetter(st.Ref, box, none)
	s.note(store.Audit{Who: storekit.Itself, Why: why.Error()}, what)
	return fmt.Errorf("%s: %w", what, why)
}
