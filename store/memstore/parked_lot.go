package memstore

import (
	"time"

	"github.com/postbag/postbag/store"
)

// lot is the parking lot of a subscription.
type lot struct {
	bySeq  map[int64]*parked
	chains map[uint64]*chain
	mixed  map[uint64]*chain            // those of several slots
	queues *queues                      // nil until the first row counts
	held   map[string]*chain            // the Held rows of each topic, by seq
	loose  map[uint64]map[int64]*parked // those of each hash that block nothing, by seq
}

func newLot() lot {
	return lot{
		bySeq: map[int64]*parked{}, chains: map[uint64]*chain{}, mixed: map[uint64]*chain{}, held: map[string]*chain{}, loose: map[uint64]map[int64]*parked{},
	}
}

// park writes a parked row. r is the message's row in the log, which may be nil
// if the message is parked already.
func (l *lot) park(k store.Park, r *row, now time.Time) {
	p := l.bySeq[k.Seq]
	switch {
	case p == nil && r == nil:
		return // there is no such message
	case p == nil:
		p = &parked{row: r, first: now}
		l.bySeq[k.Seq] = p
	case k.State == store.ParkBlocked:
		return
	default:
		l.unlink(p, now)
	}
	p.set(k, now)
	l.link(p, now)
}

// resolve removes a parked row.
func (l *lot) resolve(seq int64, now time.Time) *parked {
	p := l.bySeq[seq]
	if p == nil {
		return nil
	}
	delete(l.bySeq, seq)
	l.unlink(p, now)
	return p
}

// link puts p where Due finds it.
func (l *lot) link(p *parked, now time.Time) {
	l.hold(p)
	l.loosen(p)
	if !p.park.Blocking {
		l.count(p, p.due)
		return
	}
	c := l.chains[p.park.Hash]
	if c == nil {
		c = &chain{hash: p.park.Hash}
		l.chains[c.hash] = c
	}
	c.insert(p)
	l.lead(c, now)
}

// unlink takes p away from where Due finds it.
func (l *lot) unlink(p *parked, now time.Time) {
	l.unhold(p)
	l.tighten(p)
	l.uncount(p)
	c := l.chains[p.park.Hash]
	if !p.park.Blocking || c == nil {
		return
	}
	c.remove(p.park.Seq)
	if c.head == p {
		c.head = nil
	}
	l.lead(c, now)
}

// lead sees to it that the first row of c, and no other, counts.
func (l *lot) lead(c *chain, now time.Time) {
	if len(c.rows) == 0 {
		delete(l.chains, c.hash)
		delete(l.mixed, c.hash)
		return
	}
	if c.mixed {
		l.mixed[c.hash] = c
	}
	if c.head != nil && (c.mixed || c.head != c.rows[0]) {
		l.uncount(c.head)
		c.head = nil
	}
	if c.mixed || c.head != nil {
		return
	}
	c.head = c.rows[0]
	if c.head.park.State == store.ParkBlocked {
		c.head.due = now
	}
	l.count(c.head, c.head.due)
}

// count queues p by its time, if it can be tried.
func (l *lot) count(p *parked, due time.Time) {
	if !p.triable() {
		return
	}
	if l.queues == nil {
		l.queues = newQueues()
	}
	p.counts = true
	p.entered++
	l.queues.push(queuePlace{due: due, p: p, entry: p.entered})
}

// uncount makes what is queued of p stale.
func (l *lot) uncount(p *parked) {
	if p.counts {
		p.counts = false
		l.queues.soonest[p.park.Slot] = unknown
	}
}

// land makes the rows in flight of a shard due: it changed hands.
func (l *lot) land(r store.Slots, now time.Time) {
	for _, p := range l.bySeq {
		if p.park.State != store.ParkInFlight || !r.Contains(p.park.Slot) {
			continue
		}
		l.unlink(p, now)
		p.park.State, p.due = store.ParkRetrying, now
		l.link(p, now)
	}
}

// blocked returns the hashes with blocking rows in r.
func (l *lot) blocked(r store.Slots) []uint64 {
	var out []uint64
	for _, c := range l.chains {
		if _, p := c.in(r); p != nil {
			out = append(out, c.hash)
		}
	}
	return out
}

// clear says whether hash has no blocking row in r.
func (l *lot) clear(hash uint64, r store.Slots) bool {
	c := l.chains[hash]
	if c == nil {
		return true
	}
	_, p := c.in(r)
	return p == nil
}
