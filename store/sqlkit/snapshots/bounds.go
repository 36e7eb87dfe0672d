package snapshots

import (
	"cmp"
	"slices"
	"sync"
	"time"
)

// Bounds collects which seqs the writers of a box cannot have. Everything in it holds
// for one life of the server only (see pgstore): what was seen before a crash says
// nothing about transaction ids after it.
//
// The rule follows from a sequence of events. A row draws its seq after its transaction
// has its id. Suppose that the last seq given out was read as s, and that an id y was
// assigned to a transaction after that. Then every transaction with an id above y got it
// later still, and writes beyond s. A settlement reads s and then writes, so each
// settlement gives such a pair.
//
// A bound without an id that was assigned after it says nothing. Transactions that have
// their id already, with seqs below s, may be above the xmax of the next snapshot,
// because xmax is only one more than the last id that ended. How s is read matters as
// much: see guard_last in pgstore's query/server.sql.
type Bounds struct {
	mu    sync.Mutex
	pairs []pair
	// quiet are running transactions, by the low half of their ids, that had not
	// written to the box when the last seq was read as the number that goes with
	// them. Two that run at a time never share their low half.
	quiet map[uint32]int64
	// looked is when the last look for such transactions began, and heard when it
	// last found one.
	looked, heard time.Time
	// last is the highest seq that was seen given out.
	last int64
}

type pair struct {
	y uint64
	s int64
}

// maxPairs is how many pairs are kept. Old ones are thinned, which only lowers
// bounds.
const maxPairs = 256

// Add takes a pair: s was read, and then y was assigned.
func (b *Bounds) Add(y uint64, s int64) {
	b.mu.Lock()
	defer b.mu.Unlock()
	i, _ := slices.BinarySearchFunc(b.pairs, y, func(p pair, y uint64) int { return cmp.Compare(p.y, y) })
	if i > 0 && b.pairs[i-1].s >= s {
		return
	}
	worse := i
	for worse < len(b.pairs) && b.pairs[worse].s <= s {
		worse++
	}
	b.pairs = slices.Replace(b.pairs, i, worse, pair{y, s})
	if len(b.pairs) > maxPairs {
		b.dropEverySecond()
	}
}

// dropEverySecond drops every second pair of the older half.
func (b *Bounds) dropEverySecond() {
	kept := b.pairs[:0]
	for i, p := range b.pairs {
		if i >= maxPairs/2 || i%2 == 0 {
			kept = append(kept, p)
		}
	}
	b.pairs = kept
}

// Still notes that the running transaction xid had not written when s was read.
func (b *Bounds) Still(xid uint32, s int64) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.quiet == nil {
		b.quiet = map[uint32]int64{}
	}
	b.quiet[xid] = max(b.quiet[xid], s)
	b.heard = time.Now()
}

// Raise gives the new snapshot to the best bounds there are. from is the position that
// the read goes on from.
func (b *Bounds) Raise(to *Snapshot, from *Position) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if len(b.quiet) > 0 && time.Since(b.heard) > quietFor {
		b.quiet = nil
	}
	to.Beyond = max(from.Beyond(), b.before(to.XMax))
	for i := range to.Running {
		to.Running[i].Low = b.low(to.Running[i].XID, from)
	}
	b.forget(to)
}

// low returns the bound of a transaction that runs.
func (b *Bounds) low(xid uint64, from *Position) int64 {
	low, known := from.Floor, false
	if from.Done != nil {
		var i int
		if i, known = from.Done.find(xid); known {
			low = from.Done.Running[i].Low
		} else {
			low = from.Done.Beyond
		}
	}
	if low < from.Base {
		// A row of another cluster may have this very id, and waits with it.
		return low
	}
	if !known {
		low = max(low, b.before(xid))
	}
	return max(low, b.quiet[uint32(xid)])
}

// before returns the highest s that goes with an id below xid.
func (b *Bounds) before(xid uint64) int64 {
	i, _ := slices.BinarySearchFunc(b.pairs, xid, func(p pair, xid uint64) int { return cmp.Compare(p.y, xid) })
	if i == 0 {
		return 0
	}
	return b.pairs[i-1].s
}

// forget drops what is known of transactions that do not run in a snapshot, so
// that nothing is ever said of a later one with the same low half.
func (b *Bounds) forget(now *Snapshot) {
	if len(b.quiet) == 0 {
		return
	}
	runs := make(map[uint32]bool, len(now.Running))
	for _, r := range now.Running {
		runs[uint32(r.XID)] = true
	}
	for xid := range b.quiet {
		if !runs[xid] {
			delete(b.quiet, xid)
		}
	}
}

// LookForQuiet says whether to look which running transactions have not written yet. It
// pays if one of them bounds what must be read again when it ends, and the last look was
// some time ago.
func (b *Bounds) LookForQuiet(p *Position, now time.Time) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	if p.Done == nil || b.last-p.Done.Lowest() < quietLag || now.Sub(b.looked) < quietPause {
		return false
	}
	b.looked = now
	return true
}

// quietFor is how long half an id is taken for the whole, unless it is seen again.
// No server gives out four thousand million ids in that time.
const quietFor = 10 * time.Minute

// A look costs the server milliseconds: it is made when so many rows would be
// read again, and not more often than this.
const (
	quietLag   = 20_000
	quietPause = 2 * time.Second
)

// Saw notes that last was the last seq that the box had given out.
func (b *Bounds) Saw(last int64) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.last = max(b.last, last)
}

// Wanted says whether a poll needs a new bound first. It does if this life has none,
// whether the turn settles or not, because a settlement that hits no row gives none. It
// also does if the turn does not settle, and the newest bound lies so far back that much
// would be read again.
func (b *Bounds) Wanted(settles bool) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	if len(b.pairs) == 0 {
		return true
	}
	return !settles && b.last-b.pairs[len(b.pairs)-1].s > staleBound
}

// staleBound is how many seqs a poll may look through again before a reader that
// does not settle renews its bound.
const staleBound = 2000
