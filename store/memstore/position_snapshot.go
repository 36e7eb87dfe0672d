package memstore

import (
	"cmp"
	"slices"
)

// snapshot says which transactions had ended at a moment: those numbered below
// xmax that are not in open.
//
// As in PostgreSQL xmax is the number after the last that *ended*, so that
// transactions at or beyond it may be running and have rows already. Low is
// their bound: none of their rows in the box has a seq up to it. Every
// transaction in open has a bound of its own.
type snapshot struct {
	xmax uint64
	low  int64
	open []openTx // in the order of xid
}

// openTx is a transaction that had not ended.
type openTx struct {
	xid uint64
	low int64
}

// snapshot takes the snapshot of this moment for a box. The caller holds s.mu.
func (s *Store) snapshot(b *box) snapshot {
	snap := snapshot{xmax: s.lastDone + 1, low: b.log.last}
	for _, tx := range s.open {
		low := b.log.last
		if first, ok := tx.first[b]; ok {
			low = first - 1
		}
		if tx.xid >= snap.xmax {
			snap.low = min(snap.low, low)
			continue
		}
		snap.open = append(snap.open, openTx{tx.xid, low})
	}
	return snap
}

// sees says whether the snapshot holds what xid wrote, if that was committed.
func (s *snapshot) sees(xid uint64) bool {
	return xid < s.xmax && !s.lists(xid)
}

// lists says whether xid is among the open ones.
func (s *snapshot) lists(xid uint64) bool {
	if len(s.open) == 0 || xid < s.open[0].xid {
		return false
	}
	_, found := slices.BinarySearchFunc(s.open, xid, func(o openTx, x uint64) int { return cmp.Compare(o.xid, x) })
	return found
}

// within says whether all that s sees is seen by t too.
func (s *snapshot) within(t *snapshot) bool {
	if s.xmax > t.xmax {
		return false
	}
	for _, o := range t.open {
		if s.sees(o.xid) {
			return false
		}
	}
	return true
}

// same says whether both see the same.
func (s *snapshot) same(t *snapshot) bool { return s.within(t) && t.within(s) }

// news returns the seq above which everything lies that to sees and s does not.
func (s *snapshot) news(to *snapshot) int64 {
	low := s.low
	for _, o := range s.open {
		if to.sees(o.xid) {
			low = min(low, o.low)
		}
	}
	return low
}

// floor returns a seq up to which s sees everything that will ever be there.
func (s *snapshot) floor() int64 {
	low := s.low
	for _, o := range s.open {
		low = min(low, o.low)
	}
	return low
}

func sortOpen(open []openTx) {
	slices.SortFunc(open, func(a, b openTx) int { return cmp.Compare(a.xid, b.xid) })
}
