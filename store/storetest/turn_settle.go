package storetest

import (
	"errors"
	"slices"
	"sync"

	"github.com/postbag/postbag/store"
)

// settleCases are about settlements and their verdicts.
func settleCases() []scenario {
	return []scenario{
		{name: "A settlement moves its shard's position, and that alone", run: settleMoves},
		{name: "An empty To leaves the position", run: settleStays},
		{name: "A settlement with another token is lost and writes nothing", run: settleToken},
		{name: "A settlement with another version is lost and writes nothing", run: settleVersion},
		{name: "A lost settlement does not fail the others of its turn", run: settleAmongLost},
		{name: "A repeated settlement reports applied and changes nothing", run: settleRepeat},
		{name: "A repeat among new settlements is told apart", run: settleRepeatAmong},
		{name: "A settlement two behind is lost", run: settleTwoBehind},
		{name: "Of settlements of one lease at a time one is written", run: settleRace},
		{name: "A settlement of a missing shard is lost", run: settleMissing},
		{name: "A turn settles before it reads", run: settleFirst},
		{name: "A turn of another life of the database settles nothing", run: settleLife},
	}
}

func settleMoves(e *env) {
	e.open(3)
	leases := e.relay("r").take(ref)
	e.spread(30)
	c := e.pager()
	c.all()
	e.settle(&leases[1], store.Settlement{To: c.req.From})
	for i, sh := range e.look(ref).Shards {
		if want := leases[i]; sh.Lease != want {
			e.Errorf("shard %d has version %d, not %d", i, sh.Version, want.Version)
		}
		if moved := sh.Position == c.req.From; moved != (i == 1) {
			e.Errorf("shard %d moved: %v", i, moved)
		}
	}
}

// settleLife is for stores that know the lives of their database.
func settleLife(e *env) {
	e.open(1)
	l := e.relay("r").take(ref)[0]
	c := e.pager()
	c.expect(e.publish(e.messages(3, "a")...)...)
	life := e.turn(store.Turn{}).Life
	s := store.Settlement{Lease: l, To: c.req.From}
	if _, err := e.Store.Turn(e.ctx, store.Turn{Settle: []store.Settlement{s}, Life: life + 1}); life != 0 && !errors.Is(err, store.ErrRestarted) {
		e.Errorf("a turn of life %d in life %d: %v, not ErrRestarted", life+1, life, err)
	}
	if at := e.positions(ref)[0]; life != 0 && at == c.req.From {
		e.Error("it moved the position")
	}
	if v := e.turn(store.Turn{Settle: []store.Settlement{s}, Life: life}).Verdicts[0]; !v.Applied {
		e.Error("the same turn in this life is not applied")
	}
}

func settleStays(e *env) {
	e.open(1)
	l := e.relay("r").take(ref)[0]
	c := e.pager()
	c.expect(e.publish(e.messages(3, "a")...)...)
	e.settle(&l, store.Settlement{To: c.req.From})
	e.settle(&l, store.Settlement{})
	if at := e.positions(ref)[0]; at != c.req.From {
		e.Error("a settlement without To moved the position")
	}
}

// full is a settlement of everything: it moves, parks, tallies.
func (l *lot) full() store.Settlement {
	return store.Settlement{
		To:    l.next,
		Park:  []store.Park{park(l.at(0), store.ParkRetrying)},
		Tally: tally(store.TallyParked, l.at(0)),
	}
}

// untouched fails the case if anything of full was written.
func (l *lot) untouched(why string) {
	l.Helper()
	if at := l.positions(ref)[0]; at != "" {
		l.Errorf("the position moved although %s", why)
	}
	l.due(store.Due{}) // nothing
	if blocks, err := l.s.Blocked(l.ctx, l.lease); err != nil || len(blocks.Keys) > 0 {
		l.Errorf("%d keys are blocked (error: %v) although %s", len(blocks.Keys), err, why)
	}
}

func settleToken(e *env) {
	l := e.parked("k")
	for _, d := range []int64{-1, 1, 100} {
		st := l.full()
		st.Lease = l.lease
		st.Token += d
		if v := e.turn(store.Turn{Settle: []store.Settlement{st}}).Verdicts[0]; v.Applied {
			e.Errorf("a settlement whose token is %+d off was applied", d)
		}
		l.untouched("the token was another")
	}
	l.settle(l.full())
	l.due(store.Due{}, 0)
}

func settleVersion(e *env) {
	l := e.parked("k")
	for _, d := range []int64{-2, 1, 2} {
		st := l.full()
		st.Lease = l.lease
		st.Version += d
		if v := e.turn(store.Turn{Settle: []store.Settlement{st}}).Verdicts[0]; v.Applied {
			e.Errorf("a settlement whose version is %+d off was applied", d)
		}
		l.untouched("the version was another")
	}
	l.settle(l.full())
	l.due(store.Due{}, 0)
}

func settleAmongLost(e *env) {
	e.open(4)
	leases := e.relay("r").take(ref)
	e.spread(40)
	c := e.pager()
	c.all()
	t := store.Turn{}
	for i, l := range leases {
		if i%2 == 0 {
			l.Token += 1000
		}
		t.Settle = append(t.Settle, store.Settlement{Lease: l, To: c.req.From})
	}
	missing := store.Shard{Ref: store.Ref{Box: box, Subscription: "missing"}, Slots: store.AllSlots}
	t.Settle = append(t.Settle, store.Settlement{Lease: store.Lease{Shard: missing, Token: 1, Version: 1}})
	verdicts := e.turn(t).Verdicts
	positions := e.positions(ref)
	for i := range leases {
		if good := i%2 == 1; verdicts[i].Applied != good || (positions[i] == c.req.From) != good {
			e.Errorf("settlement %d of a turn in which every second is lost: applied %v, moved %v",
				i, verdicts[i].Applied, positions[i] == c.req.From)
		}
	}
	if verdicts[4].Applied {
		e.Error("a settlement of a missing subscription was applied")
	}
}

func settleRepeat(e *env) {
	l := e.parked("k", "k", "x")
	st := l.full()
	st.Park = append(st.Park, park(l.at(1), store.ParkBlocked))
	st.Lease = l.lease
	for i := range 3 {
		v := e.turn(store.Turn{Settle: []store.Settlement{st}}).Verdicts[0]
		if !v.Applied {
			e.Fatalf("settled for the %d. time the verdict is lost", i+1)
		}
		if len(v.Cleared) > 0 {
			e.Errorf("settled for the %d. time a key with parked messages is cleared", i+1)
		}
	}
	if sh := e.look(ref).Shards[0]; sh.Version != l.lease.Version+1 || sh.Position != l.next {
		e.Errorf("settled three times the version went from %d to %d", l.lease.Version, sh.Version)
	}
	l.due(store.Due{Followers: 5}, 0, 1)
	l.lease.Version++
	done := store.Settlement{Lease: l.lease, Resolve: []store.Resolved{l.resolved(0), l.resolved(1)}}
	for range 2 {
		v := e.turn(store.Turn{Settle: []store.Settlement{done}}).Verdicts[0]
		if !v.Applied || !slices.Equal(v.Cleared, []uint64{l.at(0).Hash}) {
			e.Errorf("a settlement, or its repeat, that resolves the last of a key: applied %v, %d keys cleared", v.Applied, len(v.Cleared))
		}
	}
	l.due(store.Due{}) // nothing
	if v := e.turn(store.Turn{Settle: []store.Settlement{st}}).Verdicts[0]; v.Applied {
		e.Error("the repeat of a settlement before the last is applied")
	}
	l.due(store.Due{}) // still nothing
}

func settleRepeatAmong(e *env) {
	e.open(2)
	leases := e.relay("r").take(ref)
	e.spread(20)
	c := e.pager()
	c.all()
	first := store.Settlement{Lease: leases[0], To: c.req.From}
	e.settle(&leases[0], first)
	second := store.Settlement{Lease: leases[1], To: c.req.From}
	for i, v := range e.turn(store.Turn{Settle: []store.Settlement{first, second}}).Verdicts {
		if !v.Applied {
			e.Errorf("settlement %d, of which the first is a repeat, is lost", i)
		}
	}
	leases[1].Version++
	for i, sh := range e.look(ref).Shards {
		if sh.Lease != leases[i] {
			e.Errorf("shard %d has version %d, not %d", i, sh.Version, leases[i].Version)
		}
	}
}

func settleTwoBehind(e *env) {
	e.open(1)
	l := e.relay("r").take(ref)[0]
	old := l
	e.settle(&l, store.Settlement{})
	e.settle(&l, store.Settlement{})
	e.refuse(old, "two settlements came after it")
	e.settle(&l, store.Settlement{})
}

func settleRace(e *env) {
	l := e.parked("k")
	st := l.full()
	st.Lease = l.lease
	other := e.other()
	var all sync.WaitGroup
	for i := range 8 {
		all.Go(func() {
			s := e.Store
			if i%2 == 0 {
				s = other
			}
			res, err := s.Turn(e.ctx, store.Turn{Settle: []store.Settlement{st}})
			if err != nil || !res.Verdicts[0].Applied {
				e.Errorf("one of eight equal settlements: error %v, or lost", err)
			}
		})
	}
	all.Wait()
	if v := e.look(ref).Shards[0].Version; v != l.lease.Version+1 {
		e.Errorf("after eight equal settlements the version went from %d to %d", l.lease.Version, v)
	}
	l.due(store.Due{}, 0)
}

func settleMissing(e *env) {
	e.open(4)
	l := e.relay("r").take(ref)[0]
	l.Slots = store.Slots{Lo: 0, Hi: 17}
	e.refuse(l, "no shard has these slots")
	l.Slots = store.AllSlots
	e.refuse(l, "no shard has these slots")
}

func settleFirst(e *env) {
	l := e.parked("k")
	st := l.full()
	st.Lease = l.lease
	res := e.turn(store.Turn{
		Settle: []store.Settlement{st},
		Read:   []store.Request{{Ref: ref, Slots: []store.Slots{store.AllSlots}, From: l.next, Limit: 10, Bytes: 1000}},
	})
	if !res.Verdicts[0].Applied || len(res.Batches[0].Records) > 0 || res.NextDue != 0 {
		e.Errorf("a turn that parks a message that is due, and reads: applied %v, %d records, next due in %s; want 0",
			res.Verdicts[0].Applied, len(res.Batches[0].Records), res.NextDue)
	}
}
