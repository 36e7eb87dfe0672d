package memstore

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/postbag/postbag"
	"github.com/postbag/postbag/store"
	"github.com/postbag/postbag/store/storekit"
)

// What one List does at most.
const (
	listDefault = 50
	listMost    = 1000
	lookMost    = 20_000
)

// lister answers one Query.
type lister struct {
	store.Query
	types storekit.Types
	now   time.Time
	snap  snapshot
	subs  []*subscription
	at    map[*subscription]map[*shard]position
	later map[int64]*scheduled // by number
}

// List implements store.Inspector. Without a State it returns all but scheduled
// messages, which have no place in the log. Without a Subscription a message
// comes once a subscription.
func (s *Store) List(ctx context.Context, q store.Query) ([]store.Item, string, error) {
	type page struct {
		items  []store.Item
		cursor string
	}
	p, err := call(ctx, s, OpInspect, func() (page, error) {
		from, err := parseCursor(q.Cursor)
		if err != nil {
			return page{}, err
		}
		s.mu.Lock()
		defer s.mu.Unlock()
		l, err := s.lister(q)
		if err != nil {
			return page{}, err
		}
		items, next := l.list(s.boxes[q.Box], from)
		return page{items, next}, nil
	})
	return p.items, p.cursor, err
}

func (s *Store) lister(q store.Query) (*lister, error) {
	b, err := s.box(q.Box)
	if err != nil {
		return nil, err
	}
	if q.Limit <= 0 {
		q.Limit = listDefault
	}
	q.Limit = min(q.Limit, listMost)
	l := &lister{
		Query: q,
		types: storekit.TypesOf(q.AllTypes()),
		now:   s.now(),
		snap:  s.snapshot(b),
		subs:  b.readers(),
		at:    map[*subscription]map[*shard]position{},
		later: make(map[int64]*scheduled, len(b.schedule.due)),
	}
	for _, m := range b.schedule.due {
		l.later[m.number] = m
	}
	if q.Subscription != "" {
		sub, err := s.subscription(q.Ref)
		if err != nil {
			return nil, err
		}
		l.subs = []*subscription{sub}
	}
	for _, sub := range l.subs {
		if l.at[sub], err = sub.positions(); err != nil {
			return nil, err
		}
	}
	return l, nil
}

// cursor is where a listing goes on: with the rows of the ordinal, from the
// skip-th item of it.
type cursor struct {
	ordinal int64
	skip    int
}

func parseCursor(s string) (c cursor, err error) {
	if s == "" {
		return cursor{ordinal: -1}, nil
	}
	if _, err := fmt.Sscanf(s, "%d.%d", &c.ordinal, &c.skip); err != nil || c.ordinal < 0 || c.skip < 0 {
		return c, fmt.Errorf("memstore: list: %w", store.ErrCursor)
	}
	return c, nil
}

// list walks what the query can find, in its order.
func (l *lister) list(b *box, from cursor) ([]store.Item, string) {
	seqs := l.candidates(b)
	if from.ordinal < 0 {
		from = cursor{ordinal: seqs.first(l.Oldest)}
	}
	var out []store.Item
	looked := 0
	for n, ok := seqs.from(from.ordinal, l.Oldest); ok; n, ok = seqs.after(n, l.Oldest) {
		items := l.items(n)
		if n == from.ordinal {
			items = items[min(from.skip, len(items)):]
		} else {
			from.skip = 0
		}
		room := l.Limit - len(out)
		if len(items) > room {
			return append(out, items[:room]...), fmt.Sprintf("%d.%d", n, from.skip+room)
		}
		out = append(out, items...)
		if looked++; looked == lookMost || len(out) == l.Limit {
			if next, more := seqs.after(n, l.Oldest); more {
				return out, fmt.Sprintf("%d.0", next)
			}
			break
		}
	}
	return out, ""
}

// items returns what of the message at an ordinal the query asks for: of each
// subscription, or scheduled.
func (l *lister) items(n int64) (out []store.Item) {
	if l.State == store.StateScheduled {
		out = l.scheduled(n)
	} else {
		for _, sub := range l.subs {
			if it, ok := l.item(sub, n); ok && l.matches(&it) {
				out = append(out, it)
			}
		}
	}
	if l.Bare {
		for i := range out {
			out[i].Headers, out[i].Payload = nil, nil
		}
	}
	return out
}

func (l *lister) scheduled(number int64) []store.Item {
	m := l.later[number]
	if m == nil {
		return nil
	}
	it := store.Item{Record: m.row.record(nil), State: store.StateScheduled, Due: m.row.NotBefore.Sub(l.now)}
	if !l.matches(&it) {
		return nil
	}
	return []store.Item{it}
}

// item returns the message with a seq as sub has it.
func (l *lister) item(sub *subscription, seq int64) (store.Item, bool) {
	if p := sub.lot.bySeq[seq]; p != nil {
		return p.item(sub, l.now), true
	}
	r := sub.box.log.at(seq)
	if r == nil || !l.snap.sees(r.xid) {
		return store.Item{}, false
	}
	it := store.Item{Record: r.record(nil), Subscription: sub.ref.Subscription, State: store.StateDelivered}
	p := l.at[sub][sub.shardOf(r.Slot)]
	_, discarded := sub.discarded[seq]
	switch {
	case !sub.filter.Take(&it.Record): // passed or not: it goes nowhere
		it.State = store.StateFiltered
	case !p.passed(r):
		it.State = store.StatePending
	case discarded:
		it.State = store.StateDiscarded
	}
	if p := sub.past[seq]; p != nil && it.State != store.StatePending {
		if storekit.Superseded(p.history) && it.State == store.StateDelivered {
			it.State = store.StateSuperseded
		}
		it.Attempts, it.Reason = p.park.Attempts, p.park.Reason
	}
	it.Queued = sub.lastOrder(seq)
	return it, true
}

// lastOrder returns the kind of the last command that waits for a message; zero: none.
func (sub *subscription) lastOrder(seq int64) (kind store.CommandKind) {
	for _, c := range sub.orders[seq] {
		kind = c.kind
	}
	return kind
}

// parkedState returns what people call a parked row's state.
func parkedState(s store.ParkState) store.State {
	switch s {
	case store.ParkBlocked:
		return store.StateBlocked
	case store.ParkInFlight:
		return store.StateInFlight
	case store.ParkDead:
		return store.StateDead
	case store.ParkHeld:
		return store.StateHeld
	default:
		return store.StateRetrying
	}
}

// item returns a parked message as people see it.
func (p *parked) item(sub *subscription, now time.Time) store.Item {
	k := p.shown(now)
	it := store.Item{
		Record:       p.row.record(nil),
		Subscription: sub.ref.Subscription,
		State:        parkedState(k.State),
		Attempts:     k.Attempts,
		Due:          k.Delay,
		Reason:       k.Reason,
	}
	it.Queued = sub.lastOrder(p.park.Seq)
	return it
}

// matches says whether an item is one that the query asks for.
func (l *lister) matches(it *store.Item) bool {
	return (l.State == "" || it.State == l.State) &&
		(l.ID == (postbag.ID{}) || it.ID == l.ID) &&
		(l.Topic == "" || it.Topic == l.Topic) &&
		(l.Key == "" || it.Key == l.Key) &&
		l.types.Take(it.Type) &&
		(l.After.IsZero() || !it.At.Before(l.After)) &&
		(l.Before.IsZero() || it.At.Before(l.Before)) &&
		(l.Error == "" || strings.Contains(strings.ToLower(it.Reason), strings.ToLower(l.Error)))
}

// Show implements store.Inspector.
func (s *Store) Show(ctx context.Context, boxName string, id postbag.ID) ([]store.Item, error) {
	return call(ctx, s, OpInspect, func() ([]store.Item, error) {
		s.mu.Lock()
		defer s.mu.Unlock()
		l, err := s.lister(store.Query{Ref: store.Ref{Box: boxName}, ID: id})
		if err != nil {
			return nil, err
		}
		b := s.boxes[boxName]
		out := []store.Item{}
		seqs := l.candidates(b)
		for seq, ok := seqs.from(0, true); ok; seq, ok = seqs.after(seq, true) {
			for _, it := range l.items(seq) {
				out = append(out, l.withHistory(b, it))
			}
		}
		l.State = store.StateScheduled
		for _, m := range b.schedule.byID[id] {
			out = append(out, l.scheduled(m.number)...)
		}
		return out, nil
	})
}

func (l *lister) withHistory(b *box, it store.Item) store.Item {
	sub := b.subs[it.Subscription]
	p := sub.lot.bySeq[it.Seq]
	if p == nil {
		p = sub.past[it.Seq]
	}
	if p != nil {
		it.History = slices.Clone(p.history)
	}
	return it
}
