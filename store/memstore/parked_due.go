package memstore

import (
	"context"
	"fmt"
	"time"

	"github.com/postbag/postbag/store"
)

// Due implements store.Store.
func (s *Store) Due(ctx context.Context, d store.Due) ([]store.Parked, error) {
	return call(ctx, s, OpDue, func() ([]store.Parked, error) {
		if d.Limit <= 0 || d.Bytes <= 0 || d.Followers < 0 {
			return nil, fmt.Errorf("memstore: due: limit %d, bytes %d, followers %d; use positive limits", d.Limit, d.Bytes, d.Followers)
		}
		s.mu.Lock()
		defer s.mu.Unlock()
		sub, err := s.subscription(d.Ref)
		if err != nil {
			return nil, err
		}
		now := s.now()
		var out []store.Parked
		find := sub.lot.ready
		if len(d.Topics) > 0 {
			find = sub.lot.heldFor
		}
		for _, p := range find(d, now) {
			out = append(out, store.Parked{Record: p.row.record(nil), Park: p.shown(now), First: now.Sub(p.first)})
		}
		return out, nil
	})
}

// head is a row that can be tried, and the range it was found in.
type head struct {
	queuePlace
	slots store.Slots
	from  *slotQueue
}

func (h head) before(o head) bool { return h.queuePlace.before(o.queuePlace) }

// heads is a heap of the first rows of several queues, longest due first.
type heads struct{ heap[head] }

// ready returns the rows that d asks for, in order.
func (l *lot) ready(d store.Due, now time.Time) []*parked {
	skip := make(map[int64]bool, len(d.Skip))
	for _, seq := range d.Skip {
		skip[seq] = true
	}
	first := l.heads(d.Slots, now)
	var out []*parked
	var taken []head
	for bytes := d.Bytes; len(first.heap) > 0 && len(out) < d.Limit && bytes > 0; {
		h := first.pop()
		taken = append(taken, h)
		if h.from != nil {
			h.from.pop()
			first.offer(h.from, h.slots, now)
		}
		if skip[h.p.park.Seq] {
			continue
		}
		rows := l.withFollowers(h, d.Followers, skip)
		for i := 0; i < len(rows) && len(out) < d.Limit && bytes > 0; i++ {
			out = append(out, rows[i])
			bytes -= len(rows[i].row.Payload)
		}
	}
	for _, h := range taken {
		if h.from != nil {
			h.from.push(h.queuePlace)
		}
	}
	return out
}

// heads returns the rows that count in the ranges and are due, but for those
// behind others in one queue.
func (l *lot) heads(ranges []store.Slots, now time.Time) heads {
	var out heads
	for _, r := range ranges {
		for slot := max(r.Lo, 0); slot < min(r.Hi, store.SlotCount) && l.queues != nil; slot++ {
			if l.queues.first(slot) <= now.UnixNano() {
				out.offer(&l.queues.slots[slot], r, now)
			}
		}
		for _, t := range l.mixedHeads(r) {
			if !t.due.After(now) {
				out.push(head{queuePlace: t, slots: r})
			}
		}
	}
	return out
}

// offer adds the first row of q, if it is due.
func (h *heads) offer(q *slotQueue, r store.Slots, now time.Time) {
	if t, ok := q.front(); ok && !t.due.After(now) {
		h.push(head{queuePlace: t, slots: r, from: q})
	}
}

// withFollowers returns a head and the rows that may be tried right behind it.
func (l *lot) withFollowers(h head, most int, skip map[int64]bool) []*parked {
	out := []*parked{h.p}
	if !h.p.park.Blocking {
		return out
	}
	for _, p := range l.chains[h.p.park.Hash].behind(h.slots, most) {
		if skip[p.park.Seq] {
			break
		}
		out = append(out, p)
	}
	return out
}
