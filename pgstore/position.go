package pgstore

import "github.com/postbag/postbag/store"

// position says which rows of the log a shard has passed. It has two forms.
//
// Without done, it is a floor: every row up to it was passed, and no other. That
// is how subscriptions begin, and begin again after their database was restored
// elsewhere. The ids of transactions are not looked at.
//
// With done, the rows of every transaction that done sees were passed.
//
// Either form may be in a window: all that the snapshot to sees is being read,
// in the order of seq, and was passed up to after.
type position struct {
	// life is that of the server in which the position was read, see identity.
	life int64
	// done is nil for a floor.
	done  *snapshot
	floor int64
	// base: rows up to here may come from another cluster, whose transaction ids
	// mean nothing in this one. A snapshot sees them all, but for those whose id
	// is that of one of its running transactions. Every transaction of this
	// cluster that a snapshot of this chain does not know yet writes beyond base.
	// Zero: there are none.
	base int64
	// high is at least the seq of every row passed because of done.
	high int64
	// to is nil outside a window.
	to *snapshot
	// top is at least the seq of every row that to sees.
	top   int64
	after int64
}

// beyond is lower than the seq of every row that p has not passed, but for rows
// of transactions that run in done.
func (p *position) beyond() int64 {
	if p.done == nil {
		return p.floor
	}
	return p.done.beyond
}

// lowest is lower than the seq of every row that p has not passed, now or ever.
func (p *position) lowest() int64 {
	if p.done == nil {
		return p.floor
	}
	return p.done.floor()
}

// passed says whether p has passed the row of a transaction.
func (p *position) passed(xid uint64, seq int64) bool {
	if p.to != nil && seq <= p.after && p.visible(p.to, xid, seq) {
		return true
	}
	if p.done == nil {
		return seq <= p.floor
	}
	return p.visible(p.done, xid, seq)
}

// visible says whether a snapshot of p sees a row, see base.
func (p *position) visible(s *snapshot, xid uint64, seq int64) bool {
	if seq <= p.base {
		_, runs := s.find(xid)
		return !runs
	}
	return s.sees(xid)
}

// closed returns the position at the end of p's window.
func (p *position) closed() position {
	return position{life: p.life, done: p.to, base: p.base, high: max(p.high, p.top)}
}

// at returns the position in p's window after seq.
func (p *position) at(seq int64) store.Position {
	q := *p
	q.after = seq
	return q.encode()
}
