package memstore

import (
	"math"
	"time"

	"github.com/postbag/postbag/store"
)

// queuePlace is a parked row's place in a queue. It is stale when the row no longer
// counts, or has entered again.
type queuePlace struct {
	due   time.Time
	p     *parked
	entry uint64
}

func (t queuePlace) stale() bool { return !t.p.counts || t.p.entered != t.entry }

// before orders places by their time, and those of one time by seq.
func (t queuePlace) before(o queuePlace) bool {
	if c := t.due.Compare(o.due); c != 0 {
		return c < 0
	}
	return t.p.park.Seq < o.p.park.Seq
}

func (queuePlace) placed(int) {}

// slotQueue holds the rows of one slot that count, by their time; stale places
// are removed when they come to the front.
type slotQueue struct{ heap[queuePlace] }

// front returns the first place that is not stale.
func (q *slotQueue) front() (queuePlace, bool) {
	for len(q.heap) > 0 {
		if t := q.heap[0]; !t.stale() {
			return t, true
		}
		q.pop()
	}
	return queuePlace{}, false
}

// queues are those of all slots.
type queues struct {
	// soonest is when the first row of each slot is due, in nanoseconds since
	// 1970, so that looking at all slots touches little memory.
	soonest [store.SlotCount]int64
	slots   [store.SlotCount]slotQueue
}

// What soonest says besides a time.
const (
	unknown = math.MinInt64 // the queue must be looked at
	never   = math.MaxInt64 // it is empty
)

func newQueues() *queues {
	q := new(queues)
	for slot := range q.soonest {
		q.soonest[slot] = never
	}
	return q
}

func (q *queues) push(t queuePlace) {
	slot := t.p.park.Slot
	q.slots[slot].push(t)
	q.soonest[slot] = min(q.soonest[slot], t.due.UnixNano()) // unknown stays
}

// first returns when the first row of a slot is due.
func (q *queues) first(slot int) int64 {
	if q.soonest[slot] == unknown {
		q.soonest[slot] = never
		if t, ok := q.slots[slot].front(); ok {
			q.soonest[slot] = t.due.UnixNano()
		}
	}
	return q.soonest[slot]
}

// nextDue returns how long until the next row in ranges can be tried; negative:
// there is none with a time.
func (l *lot) nextDue(ranges []store.Slots, now time.Time) time.Duration {
	first := int64(never)
	for _, r := range ranges {
		for slot := max(r.Lo, 0); slot < min(r.Hi, store.SlotCount) && l.queues != nil; slot++ {
			first = min(first, l.queues.first(slot))
		}
		for _, t := range l.mixedHeads(r) {
			first = min(first, t.due.UnixNano())
		}
	}
	if first == never {
		return -1
	}
	return time.Duration(max(first-now.UnixNano(), 0))
}

// mixedHeads returns the rows of r that are the first of a chain over several
// slots, and can be tried. They are in no queue, since which is the first
// depends on r.
func (l *lot) mixedHeads(r store.Slots) []queuePlace {
	var out []queuePlace
	for _, c := range l.mixed {
		if _, p := c.in(r); p != nil && p.triable() {
			out = append(out, queuePlace{due: p.due, p: p})
		}
	}
	return out
}
