package snapshots

import (
	"slices"

	"github.com/postbag/postbag/store"
)

// Position says which rows of the log a shard has passed. It has two forms.
//
// Without Done, it is a floor: every row up to it was passed, and no other. A
// subscription begins like that, and begins again like that after its database was
// restored elsewhere. The ids of transactions do not matter then.
//
// With Done, the rows of every transaction that Done sees were passed.
//
// Either form may be in a window. Then all that the snapshot To sees is being read, by
// seq, and was passed up to After.
type Position struct {
	// Life is that of the server in which the position was read, see pgstore.
	Life int64
	// Done is nil for a floor.
	Done  *Snapshot
	Floor int64
	// Base: rows up to here may come from another cluster, whose transaction ids
	// mean nothing in this one. A snapshot sees them all, with one exception: a row
	// that has the id of one of the snapshot's running transactions, and lies beyond
	// that transaction's bound. Every transaction of this cluster that a snapshot of
	// this chain does not know yet writes beyond Base. Zero: there are no such rows.
	Base int64
	// High is at least the seq of every row passed because of Done.
	High int64
	// To is nil outside a window.
	To *Snapshot
	// Top is at least the seq of every row that To sees.
	Top   int64
	After int64
}

// Beyond is lower than the seq of every row that p has not passed, not counting rows of
// transactions that run in Done.
func (p *Position) Beyond() int64 {
	if p.Done == nil {
		return p.Floor
	}
	return p.Done.Beyond
}

// Lowest is lower than the seq of every row that p has not passed, now or ever.
func (p *Position) Lowest() int64 {
	if p.Done == nil {
		return p.Floor
	}
	return p.Done.Lowest()
}

// LowWatermark is the seq up to which p has passed every row, now or ever. Unlike Lowest it
// counts what was passed in p's window.
func (p *Position) LowWatermark() int64 {
	if p.To == nil {
		return p.Lowest()
	}
	return max(p.Lowest(), min(p.After, p.To.Lowest()))
}

// Passed says whether p has passed the row of a transaction.
func (p *Position) Passed(xid uint64, seq int64) bool {
	if p.To != nil && seq <= p.After && p.visible(p.To, xid, seq) {
		return true
	}
	if p.Done == nil {
		return seq <= p.Floor
	}
	return p.visible(p.Done, xid, seq)
}

// visible says whether a snapshot of p sees a row, see Base.
func (p *Position) visible(s *Snapshot, xid uint64, seq int64) bool {
	if seq <= p.Base {
		i, runs := s.find(xid)
		return !runs || seq <= s.Running[i].Low
	}
	return s.Sees(xid)
}

// Closed returns the position at the end of p's window.
func (p *Position) Closed() Position {
	return Position{Life: p.Life, Done: p.To, Base: p.Base, High: max(p.High, p.Top)}
}

// At returns the position in p's window after seq, encoded.
func (p *Position) At(seq int64) store.Position {
	q := *p
	q.After = seq
	return q.Encode()
}

// Reach is at least the seq of every row that p has passed.
func (p *Position) Reach() int64 {
	out := max(p.Floor, p.High)
	if p.To != nil {
		out = max(out, p.After)
	}
	return out
}

// Towards opens the window that leads to until, unless a window is open already. until is
// in no window. It refuses in three cases: the position has passed something that until
// has not; the position is in a window that leads beyond until; until looks for less than
// the position still has to find, see surer.
func (p *Position) Towards(until *Position) bool {
	if until.Done == nil || p.Done != nil && !p.Done.Within(until.Done) || p.hasHigherBound(until.Done) {
		return false
	}
	if p.To != nil {
		return p.To.Within(until.Done)
	}
	p.To, p.Top = until.Done, until.High
	p.After = p.Floor
	if p.Done != nil {
		p.After = p.Done.News(until.Done)
	}
	return true
}

// hasHigherBound says that t has a higher bound for a running transaction than p may have. A
// row of another cluster that has its id waits with it; a relay that read it before that
// transaction ran looks no more for it, and p has not read it.
func (p *Position) hasHigherBound(t *Snapshot) bool {
	if p.Base == 0 {
		return false
	}
	own := p.Done
	if p.To != nil {
		own = p.To
	}
	for _, r := range t.Running {
		low := p.Floor
		if own != nil {
			i, runs := own.find(r.XID)
			if !runs { // it has read those rows
				continue
			}
			low = own.Running[i].Low
		}
		if low < min(r.Low, p.Base) {
			return true
		}
	}
	return false
}

// Open makes the new snapshot to the window that p reads. top is the last seq that was
// given out when the snapshot was taken, or later. Open returns a seq that is lower than
// that of every row in the window that p has not passed.
func (p *Position) Open(to Snapshot, top int64, known *Bounds) int64 {
	known.Raise(&to, p)
	from := p.Floor
	if p.Done != nil {
		from = p.Done.News(&to)
	}
	p.To, p.Top = &to, top
	return from
}

// Bounds returns the bounds of p. Up to each of them, p says, some transactions have no row that p has not passed.
func (p *Position) Bounds() []int64 {
	out := []int64{p.Beyond()}
	if p.Done == nil {
		return out
	}
	for _, r := range p.Done.Running {
		out = append(out, r.Low)
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// Belied says whether a row contradicts p: p has not passed its transaction, and says that there is no such row at seq.
func (p *Position) Belied(xid uint64, seq int64) bool {
	if p.Done == nil || seq <= p.Base {
		return false
	}
	if i, runs := p.Done.find(xid); runs {
		return seq <= p.Done.Running[i].Low
	}
	return xid >= p.Done.XMax && seq <= p.Done.Beyond
}

// Lowered returns the position that has passed what all of some positions have passed, by the ids of transactions alone. It
// looks for the rest in the whole log. If one position is a floor, or knows rows of another cluster, that cannot be told: then
// Lowered returns the beginning. All positions must be of one server.
func Lowered(all []Position) Position {
	var least *Position
	out := Position{}
	for i := range all {
		p := &all[i]
		if p.Done == nil || p.Base > 0 {
			return Position{}
		}
		if least == nil || p.Done.Within(least.Done) {
			least = p
		}
		out.High = max(out.High, p.Reach())
	}
	if least == nil {
		return out
	}
	out.Life, out.Done = least.Life, &Snapshot{XMax: least.Done.XMax}
	for _, r := range least.Done.Running {
		out.Done.Running = append(out.Done.Running, Runner{XID: r.XID})
	}
	return out
}

// Unpass lets p look for what some transactions wrote, although it has passed them, as if they still ran.
func (p *Position) Unpass(xids []uint64) {
	if p.Done == nil {
		return
	}
	for _, xid := range xids {
		if i, runs := p.Done.find(xid); runs {
			p.Done.Running[i].Low = 0
		} else if xid < p.Done.XMax {
			p.Done.Running = slices.Insert(p.Done.Running, i, Runner{XID: xid})
		}
	}
}
