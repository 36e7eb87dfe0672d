package pgstore

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/postbag/postbag/store"
	"github.com/postbag/postbag/store/storekit"
)

// What an Overview counts exactly, of a log or of a schedule; and of a backlog, whose
// rows it reads. What is more is estimated: by the statistics, and by the seqs.
const (
	countMost   = 10_000
	backlogMost = 2_000
)

// Overview implements store.Inspector.
func (s *Store) Overview(ctx context.Context) (store.Overview, error) {
	var o store.Overview
	err := s.guarded(ctx, func(v *server) error {
		o = store.Overview{}
		known, err := s.readCatalog(ctx)
		if err != nil {
			return err
		}
		w := &overviewReader{s: s, v: v, known: known, o: &o, behind: s.behind()}
		return w.look(ctx)
	})
	if err != nil {
		return store.Overview{}, translateError("look at everything", err)
	}
	return o, nil
}

// overviewReader is an Overview at work.
type overviewReader struct {
	s     *Store
	v     *server
	known *catalog
	o     *store.Overview
	now   int64 // microseconds since 1970
	// behind is how long ago that was, where a standby is asked.
	behind time.Duration
	subs   map[store.Ref]*store.SubscriptionView
}

func (w *overviewReader) look(ctx context.Context) error {
	if err := w.clock(ctx); err != nil {
		return err
	}
	if err := w.relays(ctx); err != nil {
		return err
	}
	if err := w.subscriptions(ctx); err != nil {
		return err
	}
	for name, box := range w.known.boxes {
		if err := w.box(ctx, name, box); err != nil {
			return err
		}
	}
	if err := w.missing(ctx); err != nil {
		return err
	}
	notices, err := w.s.notices(ctx, w.v, w.now)
	if err != nil {
		return err
	}
	for i := range w.o.Boxes {
		w.o.Boxes[i].Notices = notices[w.o.Boxes[i].Name]
	}
	w.o.Now = time.UnixMicro(w.now).UTC()
	slices.SortFunc(w.o.Boxes, func(a, b store.BoxView) int { return cmp.Compare(a.Name, b.Name) })
	return nil
}

// missing adds the boxes whose table somebody dropped.
func (w *overviewReader) missing(ctx context.Context) error {
	whole := len(w.o.Boxes)
	return w.s.run(ctx, call{
		st:    w.s.statements.get("missing", ""),
		reset: func() { w.o.Boxes = w.o.Boxes[:whole] },
		each: func(r row) error {
			c := columns{rest: r}
			w.o.Boxes = append(w.o.Boxes, store.BoxView{Name: c.text(), Missing: true})
			return c.err
		},
	})
}

// clock reads the time: without a box nothing else brings it.
func (w *overviewReader) clock(ctx context.Context) error {
	return w.s.run(ctx, call{
		st: w.s.statements.get("clock", ""),
		each: func(r row) error {
			c := columns{rest: r}
			w.now = c.int8() - w.behind.Microseconds()
			return c.err
		},
	})
}

// free shows the shards whose owner's heartbeat is over as nobody's.
func (w *overviewReader) free(shards []store.ShardState) {
	for i := range shards {
		owner := &shards[i].Owner
		if !slices.ContainsFunc(w.o.Relays, func(r store.RelayState) bool { return r.ID == *owner }) {
			*owner = ""
		}
	}
}

// relays reads the live relays, and what operators hold.
func (w *overviewReader) relays(ctx context.Context) error {
	return w.s.run(ctx, w.s.guard(w.v, "", nil), w.s.pauses(&w.o.Pauses, func() bool { return false }), call{
		st:    w.s.statements.get("relays", ""),
		args:  new(parameters).int8(w.behind.Microseconds()),
		reset: func() { w.o.Relays = nil },
		each: func(r row) error {
			rs, err := readRelay(r)
			w.o.Relays = append(w.o.Relays, rs)
			return err
		},
	})
}

// subscriptions reads the shards of all subscriptions, and what they have done.
func (w *overviewReader) subscriptions(ctx context.Context) error {
	var refs []store.Ref
	byID := map[int32]store.Ref{}
	for ref, e := range w.known.subs {
		if ref.Subscription != store.Maintenance {
			refs = append(refs, ref)
			byID[e.id] = ref
		}
	}
	slices.SortFunc(refs, func(a, b store.Ref) int {
		return cmp.Or(cmp.Compare(a.Box, b.Box), cmp.Compare(w.known.subs[a].id, w.known.subs[b].id))
	})
	var all []store.SubscriptionState
	err := w.s.run(ctx, call{
		st: w.s.statements.get("shards", ""),
		args: new(parameters).texts(len(refs), func(i int) string { return refs[i].Box }).
			texts(len(refs), func(i int) string { return refs[i].Subscription }),
		reset: func() { all = nil },
		each:  func(r row) error { return appendShard(&all, r) },
	})
	if err != nil {
		return err
	}
	w.subs = map[store.Ref]*store.SubscriptionView{}
	for i := range all {
		w.free(all[i].Shards)
		w.subs[all[i].Ref] = &store.SubscriptionView{SubscriptionState: all[i], Parked: map[store.ParkState]int64{}}
	}
	ids := func() *parameters {
		return new(parameters).int4s(len(refs), func(i int) int32 { return w.known.subs[refs[i]].id })
	}
	return w.s.run(ctx, call{
		st: w.s.statements.get("sub_view", ""), args: ids().int4(store.CountedParked),
		each: func(r row) error { return w.take(r, byID) },
	}, call{
		st: w.s.statements.get("sub_held", ""), args: ids(),
		reset: func() {
			for _, v := range w.subs {
				v.Held = nil
			}
		},
		each: func(r row) error {
			c := columns{rest: r}
			if v := w.subs[byID[c.int4()]]; v != nil {
				v.Held = append(v.Held, store.HeldTopic{Topic: c.text(), Messages: c.int8(), Reason: c.text()})
			}
			return c.err
		},
	})
}

// take reads what a subscription has done.
func (w *overviewReader) take(r row, byID map[int32]store.Ref) error {
	c := columns{rest: r}
	v := w.subs[byID[c.int4()]]
	if v == nil {
		return c.err
	}
	v.Delivered, v.Discarded, v.Superseded = c.int8(), c.int8(), c.int8()
	for _, state := range []store.ParkState{store.ParkRetrying, store.ParkBlocked, store.ParkInFlight, store.ParkDead, store.ParkHeld} {
		v.Parked[state] = c.int8()
	}
	v.Commands, v.Made, v.Begun, v.WantedBy = c.int8(), time.UnixMicro(c.int8()).UTC(), c.int8(), c.text()
	replay := c.text()
	v.Filtered = c.int8()
	if c.err != nil {
		return c.err
	}
	var err error
	v.Replay, err = storekit.ParseReplay(replay, v.Ref, len(v.Shards))
	return err
}

// box reads what a box holds, and how far its subscriptions are behind.
func (w *overviewReader) box(ctx context.Context, name string, box *catalogBox) error {
	b := store.BoxView{Name: name}
	var dropped int64
	err := w.s.run(ctx, call{
		st: w.s.statements.get("box_view", name), args: new(parameters).int4(box.id).int4(countMost),
		each: func(r row) error {
			c := columns{rest: r}
			w.now, b.Last, dropped = c.int8()-w.behind.Microseconds(), c.int8(), c.int8()
			b.Rows = estimate(c.int8(), c.int8(), b.Last-dropped)
			b.Scheduled = estimate(c.int8(), c.int8(), 1<<62)
			held := c.retention()
			view := held.View(w.now)
			b.Retention = &view
			return c.err
		},
	})
	if err != nil {
		return err
	}
	if err := w.s.newest(ctx, &b, dropped); err != nil {
		return err
	}
	if b.Removed, err = w.removed(ctx, box); err != nil {
		return err
	}
	for ref, v := range w.subs {
		if ref.Box != name {
			continue
		}
		last := b.Last
		if v.Replay != nil { // what lies behind its end is none of its own
			last = min(last, v.Replay.Through)
		}
		if err := w.backlog(ctx, v, w.known.subs[ref], last); err != nil {
			return err
		}
		b.Subscriptions = append(b.Subscriptions, *v)
	}
	slices.SortFunc(b.Subscriptions, func(x, y store.SubscriptionView) int {
		return cmp.Compare(w.known.subs[x.Ref].id, w.known.subs[y.Ref].id)
	})
	w.o.Boxes = append(w.o.Boxes, b)
	return nil
}

// removed reads the subscriptions of a box that operators removed.
func (w *overviewReader) removed(ctx context.Context, box *catalogBox) (out []store.Removed, err error) {
	err = w.s.run(ctx, call{
		st: w.s.statements.get("removed", ""), args: new(parameters).int4(box.id),
		reset: func() { out = nil },
		each: func(r row) error {
			c := columns{rest: r}
			out = append(out, store.Removed{Name: c.text(), At: time.UnixMicro(c.int8()).UTC(), By: c.text()})
			return c.err
		},
	})
	return out, err
}

// estimate returns what was counted, and what the statistics have where that went
// to its end, at most most.
func estimate(counted, known, most int64) int64 {
	if counted < countMost {
		return counted
	}
	return min(max(counted, known), max(counted, most))
}

// backlog counts what lies beyond a subscription's positions, exactly as long as
// it is not much.
func (w *overviewReader) backlog(ctx context.Context, v *store.SubscriptionView, e *catalogSubscription, last int64) error {
	f := follower{id: e.id}
	for i := range v.Shards {
		f.addShard(v.Shards[i].Lo, v.Shards[i].Hi, string(v.Shards[i].Position))
	}
	if f.bad != nil || len(f.shards) == 0 {
		return f.bad
	}
	floor, reach := f.shards[0].at.Lowest(), f.shards[0].at.Reach()
	for i := range f.shards {
		floor, reach = min(floor, f.shards[i].at.Lowest()), min(reach, f.shards[i].at.Reach())
	}
	if reach = min(reach, last); floor >= last {
		return nil
	}
	// Up to reach there are only stragglers; beyond, nearly all is to come.
	if _, err := w.count(ctx, v, &f, floor, reach); err != nil {
		return err
	}
	at, err := w.count(ctx, v, &f, max(floor, reach), last)
	v.Backlog += last - at
	return err
}

// count counts what a subscription has not passed of a range of the log, and
// returns how far it looked.
func (w *overviewReader) count(ctx context.Context, v *store.SubscriptionView, f *follower, from, to int64) (at int64, err error) {
	looked, at := 0, max(from, to)
	err = w.s.scanRows(ctx, "tail", v.Box, from, to, func(r *scannedRow) bool {
		if !f.passed(r) {
			v.Backlog++
			age := time.Duration(w.now-r.at-epochMicros) * time.Microsecond
			v.Oldest = max(v.Oldest, age)
		}
		if looked++; looked == backlogMost {
			at = r.seq
		}
		return looked < backlogMost
	})
	return at, err
}
