package memstore

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"time"

	"github.com/postbag/postbag/store"
)

// backlogMost is how many rows an overview looks at to count a backlog.
const backlogMost = 20_000

// Overview implements store.Inspector.
func (s *Store) Overview(ctx context.Context) (store.Overview, error) {
	return call(ctx, s, OpInspect, func() (store.Overview, error) {
		s.mu.Lock()
		defer s.mu.Unlock()
		now := s.now()
		o := store.Overview{Now: now.UTC(), Relays: s.live(now), Pauses: s.paused(now)}
		notices := s.notices(now)
		for _, b := range s.boxes {
			v, err := s.viewBox(b, now)
			if err != nil {
				return store.Overview{}, err
			}
			v.Notices = notices[b.name]
			o.Boxes = append(o.Boxes, v)
		}
		slices.SortFunc(o.Boxes, func(a, b store.BoxView) int { return cmp.Compare(a.Name, b.Name) })
		return o, nil
	})
}

func (s *Store) viewBox(b *box, now time.Time) (store.BoxView, error) {
	v := store.BoxView{Name: b.name, Rows: b.log.rows, Last: b.log.last, Scheduled: int64(len(b.schedule.due))}
	held := b.retention.View(now.UnixMicro())
	v.Retention = &held
	for _, name := range slices.Sorted(maps.Keys(b.removed)) {
		v.Removed = append(v.Removed, b.removed[name])
	}
	snap := s.snapshot(b)
	for _, sub := range b.readers() {
		sv, err := sub.view(&snap, s.holds(sub.ref, now), now)
		if err != nil {
			return store.BoxView{}, err
		}
		for i := range sv.Shards {
			if r := s.relays[sv.Shards[i].Owner]; r == nil || !now.Before(r.expires) {
				sv.Shards[i].Owner = ""
			}
		}
		v.Subscriptions = append(v.Subscriptions, sv)
	}
	return v, nil
}

func (sub *subscription) view(snap *snapshot, paused bool, now time.Time) (store.SubscriptionView, error) {
	v := store.SubscriptionView{
		SubscriptionState: sub.state(paused),
		Made:              sub.made,
		Begun:             sub.begun,
		WantedBy:          sub.wantedBy,
		Replay:            sub.shownReplay(),
		Delivered:         sub.count(store.TallyDelivered),
		Discarded:         sub.count(store.TallyDiscarded),
		Superseded:        sub.count(store.TallySuperseded),
		Parked:            map[store.ParkState]int64{},
		Held:              sub.lot.mostHeld(),
	}
	if sub.replay != nil {
		v.Filtered = sub.count(store.TallyFiltered)
	}
	for _, p := range sub.lot.bySeq {
		v.Parked[p.park.State]++
	}
	for _, c := range sub.commands {
		if !c.closed {
			v.Commands++
		}
	}
	return v, sub.viewBacklog(&v, snap, now)
}

// viewBacklog counts what lies beyond sub's positions, exactly as long as it is
// not much.
func (sub *subscription) viewBacklog(v *store.SubscriptionView, snap *snapshot, now time.Time) error {
	at, err := sub.positions()
	if err != nil {
		return err
	}
	l := &sub.box.log
	last := l.last
	if sub.replay != nil { // what lies behind its end is none of its own
		last = min(last, sub.replay.Through)
	}
	floor := last
	for _, p := range at {
		floor = min(floor, p.floor())
	}
	seq := l.skip(floor + 1)
	for looked := 0; seq <= last; seq = l.skip(seq + 1) {
		if looked++; looked > backlogMost {
			v.Backlog += last - seq + 1
			return nil
		}
		r := l.at(seq)
		if r == nil || !snap.sees(r.xid) {
			continue
		}
		if p := at[sub.shardOf(r.Slot)]; p.passed(r) {
			continue
		}
		v.Backlog++
		v.Oldest = max(v.Oldest, now.Sub(r.At))
	}
	return nil
}

// positions returns where sub's shards stand.
func (sub *subscription) positions() (map[*shard]position, error) {
	out := make(map[*shard]position, len(sub.shards))
	for _, sh := range sub.shards {
		p, err := decode(sh.position)
		if err != nil {
			return nil, err
		}
		out[sh] = p
	}
	return out, nil
}
