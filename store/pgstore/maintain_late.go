package pgstore

import (
	"context"
	"math"
	"slices"
	"time"
)

// A row may come where a position said that none would: its number was drawn long before, or its sequence was set back into a
// hole and on again. The position passes its transaction with the next snapshot, and nothing shows it from then on. What a
// position said of later transactions stays true however far it has gone since. Housekeeping therefore remembers where positions
// stood, and looks whether rows of the log belie what they said then.

// How many seqs at the end each search looks through, how many generations of claims are remembered (each of twice the age of the
// one before), and the least time between two searches.
const (
	lateTail   = 5000
	lateLevels = 16
	latePause  = 30 * time.Second
)

// claim is what the positions of a box said at one time.
type claim struct {
	subs []follower
	// least is below the id of every transaction that one of them had not passed, and top at least all their bounds.
	least uint64
	top   int64
}

// lateSearch is how far a box was searched for rows that belie a position.
type lateSearch struct {
	era  int64
	last time.Time
	n    uint64
	// Level k is renewed at each 2^k-th search.
	young, old [lateLevels]*claim
	// at is up to where the tour through the whole log has come.
	at int64
}

// claimOf is what positions say now.
func claimOf(subs []follower) *claim {
	out := &claim{subs: subs, least: math.MaxUint64}
	for i := range subs {
		for k := range subs[i].shards {
			p := &subs[i].shards[k].at
			if p.Done == nil {
				continue
			}
			out.least = min(out.least, p.Done.XMax)
			if len(p.Done.Running) > 0 {
				out.least = min(out.least, p.Done.Running[0].XID)
			}
			for _, bound := range p.Bounds() {
				out.top = max(out.top, bound)
			}
		}
	}
	return out
}

// addLate adds a row's transaction to those that belie a subscription.
func (c *claim) addLate(r *scannedRow, late map[int32][]uint64) {
	if r.xid < c.least || r.seq > c.top {
		return
	}
	for i := range c.subs {
		f := &c.subs[i]
		says := func(sh shardPosition) bool { return sh.at.Belied(r.xid, r.seq) }
		if slices.ContainsFunc(f.shards, says) && !slices.Contains(late[f.id], r.xid) {
			late[f.id] = append(late[f.id], r.xid)
		}
	}
}

// remember adds what positions say now, and returns all that is remembered, the highest bound in it too.
func (v *lateSearch) remember(now *claim) (all []*claim, top int64) {
	for k := range lateLevels {
		if v.n%(1<<k) == 0 {
			v.old[k], v.young[k] = v.young[k], now
		}
	}
	v.n++
	for _, c := range append(v.young[:], v.old[:]...) {
		if c != nil && !slices.Contains(all, c) {
			all, top = append(all, c), max(top, c.top)
		}
	}
	return all, top
}

// searchLate looks through the end of the log, and through the next page of all of it, for rows that belie a position. Where it
// finds some, the box is in doubt: Check has them delivered.
func (m *maintenance) searchLate(ctx context.Context) error {
	v := &m.maintenanceState.strays
	if time.Since(v.last) < latePause || m.late() {
		return nil
	}
	if v.era != m.v.era {
		*v = lateSearch{era: m.v.era}
	}
	all, top := v.remember(claimOf(m.followers))
	late := map[int32][]uint64{}
	each := func(r *scannedRow) bool {
		for _, c := range all {
			c.addLate(r, late)
		}
		return true
	}
	if err := m.s.scanRows(ctx, "scan", m.Box, max(top-lateTail, 0), top, each); err != nil {
		return err
	}
	if err := m.scanLatePage(ctx, v, top, each); err != nil {
		return err
	}
	if len(late) > 0 {
		if err := m.look(ctx); err != nil { // the rows are of the server that the positions are of
			return err
		}
		m.s.doubt(m.Box, m.v.era, late)
		return renumberedError(m.Box)
	}
	v.last = time.Now()
	return nil
}

// scanLatePage takes the tour through the log one page on.
func (m *maintenance) scanLatePage(ctx context.Context, v *lateSearch, top int64, each func(*scannedRow) bool) error {
	if v.at >= top {
		v.at = 0
	}
	next, n, err := m.s.scanSome(ctx, "scan", m.Box, v.at, top, each)
	if err == nil && n == 0 && next < top {
		next, err = m.s.skip(ctx, m.Box, next, top)
	}
	if err == nil {
		v.at = next
	}
	return err
}

// doubt is why a box's numbering is not what positions speak of: late are transactions, by subscription, that have rows below a
// bound, of a server's era.
type doubt struct {
	era  int64
	late map[int32][]uint64
}

// doubt has Check look through a box again, and have what some transactions wrote delivered, though they were passed.
func (s *Store) doubt(box string, era int64, late map[int32][]uint64) {
	if late == nil {
		s.doubts.LoadOrStore(box, &doubt{era: era})
		return
	}
	s.doubts.Store(box, &doubt{era: era, late: late})
}

// doubted returns the doubt about a box, nil if there is none.
func (s *Store) doubted(box string) *doubt {
	d, _ := s.doubts.Load(box)
	out, _ := d.(*doubt)
	return out
}
