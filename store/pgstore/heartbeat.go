package pgstore

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/postbag/postbag/store"
	"github.com/postbag/postbag/store/sqlkit/snapshots"
	"github.com/postbag/postbag/store/storekit"
)

// Beat implements store.Store. It is one transaction and one round trip, with
// nobody on this side to wait for in the middle: a process that is stopped while
// it beats holds no lock.
func (s *Store) Beat(ctx context.Context, b store.Beat) (store.View, error) {
	if b.Relay == "" || b.TTL <= 0 && !b.Leave {
		return store.View{}, fmt.Errorf("pgstore: beat: relay id %q, TTL %s; give an id and a positive TTL", b.Relay, b.TTL)
	}
	conditions, err := storekit.ConditionsText(b.Conditions)
	if err != nil {
		return store.View{}, translateError("beat", err)
	}
	var view store.View
	err = s.guarded(ctx, func(v *server) error {
		w := &beating{s: s, v: v, b: b, conditions: conditions}
		if err := s.run(ctx, w.group()...); err != nil {
			return schemaError(err)
		}
		w.learn()
		view = w.view
		s.noted(s.catalog.Load(), view.Epoch)
		return nil
	})
	return view, translateError("beat", err)
}

// beating is one heartbeat at work.
type beating struct {
	s *Store
	v *server
	b store.Beat
	// conditions are those of b as they are stored.
	conditions string

	view  store.View
	boxes []string
	lasts []int64
	xid   int64
	// renewed: the relay's row was renewed or made, so that the rest was done.
	renewed bool
}

// group returns the transaction. Rows are locked in one order in all of them: the
// relay's own, then shards by id, then the epoch.
func (w *beating) group() group {
	g := w.begin()
	if w.b.Leave {
		g = append(g, w.simple("lock_owned"), w.simple("leave"))
	} else if w.changes() {
		g = append(g, w.lock())
		if len(w.b.Give) > 0 {
			g = append(g, w.give())
		}
		for _, r := range w.b.Reshape {
			g = append(g, w.reshape(r)...)
		}
	}
	if !w.b.Leave {
		g = append(g, w.simple("bury"))
	}
	if len(w.b.Take) > 0 && !w.b.Leave {
		g = append(g, w.take(), w.simple("land"))
	}
	if !w.b.Leave {
		g = append(g, call{st: w.s.statements.get("end_pauses", "")})
	}
	return append(g, w.epoch(), w.relays(), w.s.pauses(&w.view.Pauses, func() bool { return !w.renewed }), w.shards())
}

func (w *beating) changes() bool { return len(w.b.Give)+len(w.b.Reshape)+len(w.b.Take) > 0 }

// begin makes sure of the server, reads what the boxes of the shards to be taken
// have given out (taking one writes, and so gives a first bound), and renews.
func (w *beating) begin() group {
	for _, sh := range w.b.Take {
		w.addBox(sh.Box)
	}
	w.lasts = make([]int64, len(w.boxes))
	g := group{w.s.guard(w.v, "", nil)}
	for i, box := range w.boxes {
		g = append(g, w.s.last(box, &w.lasts[i]))
	}
	b := &w.b
	a := new(parameters).text(b.Relay).text(b.Name).int8(b.TTL.Microseconds())
	a.texts(len(b.Works), func(i int) string { return b.Works[i].Box })
	a.texts(len(b.Works), func(i int) string { return b.Works[i].Subscription })
	a.bool(b.New).int4(snapshots.Format).text(w.conditions)
	return append(g, call{
		st: w.s.statements.get("renew", ""), args: a,
		reset: func() { w.view, w.xid, w.renewed = store.View{}, 0, false },
		each: func(r row) error {
			c := columns{rest: r}
			w.xid, w.renewed = c.int8(), true
			w.view.Alive, w.view.Now = !w.b.Leave, time.UnixMicro(c.int8())
			return c.err
		},
	})
}

// addBox notes a box that exists, as far as the catalog knows: what is unknown has
// no shard to take.
func (w *beating) addBox(box string) {
	r := w.s.catalog.Load()
	if r == nil || r.boxes[box] == nil {
		return
	}
	if !slices.Contains(w.boxes, box) {
		w.boxes = append(w.boxes, box)
	}
}

// learn takes the bounds that the transaction proved.
func (w *beating) learn() {
	if w.xid == 0 {
		return
	}
	for i, box := range w.boxes {
		w.v.of(box).Add(uint64(w.xid), w.lasts[i])
	}
}

// simple returns a statement whose only parameter is the relay.
func (w *beating) simple(name string) call {
	return call{st: w.s.statements.get(name, ""), args: new(parameters).text(w.b.Relay)}
}

// shardsOf appends the names of shards as four arrays.
func shardsOf(a *parameters, list []store.Shard) *parameters {
	n := len(list)
	a.texts(n, func(i int) string { return list[i].Box })
	a.texts(n, func(i int) string { return list[i].Subscription })
	a.int2s(n, func(i int) int { return list[i].Lo })
	return a.int2s(n, func(i int) int { return list[i].Hi })
}

// lock locks, in the order of their ids, all shards that are going to change.
func (w *beating) lock() call {
	list := append([]store.Shard(nil), w.b.Take...)
	for _, l := range w.b.Give {
		list = append(list, l.Shard)
	}
	for _, r := range w.b.Reshape {
		for _, l := range r.Leases {
			list = append(list, l.Shard)
		}
	}
	return call{st: w.s.statements.get("lock_shards", ""), args: shardsOf(new(parameters), list)}
}

func (w *beating) give() call {
	list := make([]store.Shard, len(w.b.Give))
	for i, l := range w.b.Give {
		list[i] = l.Shard
	}
	a := shardsOf(new(parameters).text(w.b.Relay), list)
	a.int8s(len(list), func(i int) int64 { return w.b.Give[i].Token })
	return call{st: w.s.statements.get("give", ""), args: a}
}

func (w *beating) take() call {
	a := shardsOf(new(parameters).text(w.b.Relay), w.b.Take).int4(snapshots.Format)
	return call{st: w.s.statements.get("take", ""), args: a}
}

// reshape returns the statements that replace a subscription's shards. One that
// cannot be is left out, as the server leaves out what its rows do not allow.
func (w *beating) reshape(r store.Reshape) []call {
	if r.Shards < 1 || r.Shards > store.SlotCount {
		return nil
	}
	for _, l := range r.Leases {
		if l.Ref != r.Ref {
			return nil
		}
	}
	n := len(r.Leases)
	a := new(parameters).text(w.b.Relay).text(r.Box).text(r.Subscription)
	a.int2s(n, func(i int) int { return r.Leases[i].Lo })
	a.int2s(n, func(i int) int { return r.Leases[i].Hi })
	a.int8s(n, func(i int) int64 { return r.Leases[i].Token })
	a.int8s(n, func(i int) int64 { return r.Leases[i].Version })
	parts := store.Split(r.Shards)
	a.int2s(len(parts), func(i int) int { return parts[i].Lo })
	a.int2s(len(parts), func(i int) int { return parts[i].Hi })
	return []call{
		{st: w.s.statements.get("reshape", ""), args: a},
		w.simple("rehome"),
		w.simple("relead"),
	}
}

func (w *beating) epoch() call {
	return call{
		st: w.s.statements.get("epoch", ""), args: new(parameters).text(w.b.Relay).bool(w.b.Leave),
		each: func(r row) error {
			c := columns{rest: r}
			w.view.Epoch = c.int8()
			return c.err
		},
	}
}

func (w *beating) relays() call {
	return call{st: w.s.statements.get("relays", ""), args: new(parameters).int8(0), each: func(r row) error {
		if !w.renewed {
			return nil
		}
		rs, err := readRelay(r)
		w.view.Relays = append(w.view.Relays, rs)
		return err
	}}
}

// readRelay reads a live relay.
func readRelay(r row) (store.RelayState, error) {
	c := columns{rest: r}
	rs := store.RelayState{ID: c.text(), Name: c.text(), Expires: c.duration()}
	boxes, subs := c.texts(), c.texts()
	for i := range min(len(boxes), len(subs)) {
		rs.Works = append(rs.Works, store.Ref{Box: boxes[i], Subscription: subs[i]})
	}
	var err error
	if rs.Conditions, err = storekit.ParseConditions(c.text()); c.err != nil {
		err = c.err
	}
	return rs, err
}

func (w *beating) shards() call {
	b := &w.b
	a := new(parameters).texts(len(b.Works), func(i int) string { return b.Works[i].Box })
	a.texts(len(b.Works), func(i int) string { return b.Works[i].Subscription })
	return call{st: w.s.statements.get("shards", ""), args: a, each: func(r row) error {
		if !w.renewed {
			return nil
		}
		return appendShard(&w.view.Subscriptions, r)
	}}
}

// appendShard reads one shard of a view, whose rows come by subscription. The first of one has the filter and the settings.
func appendShard(subs *[]store.SubscriptionState, r row) error {
	c := columns{rest: r}
	ref := store.Ref{Box: c.text(), Subscription: c.text()}
	wanted, paused := int(c.int4()), c.bool()
	f, err := c.filter()
	by, settings := c.text(), c.text()
	if n := len(*subs); n == 0 || (*subs)[n-1].Ref != ref {
		*subs = append(*subs, store.SubscriptionState{Ref: ref, Wanted: wanted, Paused: paused, Types: f.Types, Where: f.Where, TypesBy: by, Unreadable: err, Settings: storekit.ParseSettings(settings)})
	}
	sub := &(*subs)[len(*subs)-1]
	var sh store.ShardState
	sh.Ref = ref
	sh.Lo, sh.Hi = c.int2(), c.int2()
	sh.Token, sh.Version = c.int8(), c.int8()
	sh.Owner, sh.Position = c.text(), store.Position(c.text())
	sub.Shards = append(sub.Shards, sh)
	return c.err
}
