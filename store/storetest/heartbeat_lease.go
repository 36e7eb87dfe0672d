package storetest

import (
	"slices"
	"sync"

	"github.com/postbag/postbag/store"
)

// leaseCases are about who owns what.
func leaseCases() []scenario {
	return []scenario{
		{name: "A free shard becomes its taker's, with a new token", run: takeFree},
		{name: "A shard that a live relay holds is not taken", run: takeHeld},
		{name: "A shard that its taker holds stays as it is", run: takeOwn},
		{name: "A shard that does not exist is not taken", run: takeMissing},
		{name: "A dead relay's shards are taken over, and its settlements are lost", run: takeOver},
		{name: "A shard given back is free, and its late giver's settlement is lost once it is taken", run: giveBack},
		{name: "A lease of an old token gives nothing back", run: giveStale},
		{name: "A relay that leaves gives everything back", run: leave},
		{name: "Of eight relays that want one shard one gets it", run: takeRace},
		{name: "Give and Take of one beat hand a shard on", run: giveAndTake},
		{name: "A shard's position stays when it changes hands", run: positionStays},
	}
}

func takeFree(e *env) {
	e.open(2)
	r := e.relay("r")
	shards := e.look(ref).Shards
	v := r.beat(store.Beat{Take: []store.Shard{shards[1].Shard}})
	got := shardsOf(v, ref)
	if got[0].Owner != "" || got[1].Owner != "r" || got[1].Token <= shards[1].Token {
		e.Errorf("after taking the second shard the owners are %q and %q; its token went from %d to %d",
			got[0].Owner, got[1].Owner, shards[1].Token, got[1].Token)
	}
	l := got[1].Lease
	e.settle(&l, store.Settlement{})
}

func takeHeld(e *env) {
	e.open(1)
	first := e.relay("first")
	l := first.take(ref)[0]
	v := e.relayOn(e.other(), "second").beat(store.Beat{Take: []store.Shard{l.Shard}})
	if sh := shardsOf(v, ref)[0]; sh.Owner != "first" || sh.Token != l.Token {
		e.Errorf("a shard that a live relay held went to %q", sh.Owner)
	}
	e.settle(&l, store.Settlement{})
}

func takeOwn(e *env) {
	e.open(1)
	r := e.relay("r")
	l := r.take(ref)[0]
	v := r.beat(store.Beat{Take: []store.Shard{l.Shard}})
	if sh := shardsOf(v, ref)[0]; sh.Lease != l || sh.Owner != "r" {
		e.Errorf("taken again by its owner, a shard has token %d and version %d, not %d and %d", sh.Token, sh.Version, l.Token, l.Version)
	}
}

func takeMissing(e *env) {
	e.open(2)
	r := e.relay("r")
	v := r.beat(store.Beat{Take: []store.Shard{
		{Ref: ref, Slots: store.AllSlots},
		{Ref: ref, Slots: store.Slots{Lo: 5, Hi: 6}},
		{Ref: store.Ref{Box: box, Subscription: "missing"}, Slots: store.AllSlots},
	}})
	for _, sh := range shardsOf(v, ref) {
		if sh.Owner != "" {
			e.Errorf("shard %s was taken by a command for others", sh.Shard)
		}
	}
}

func takeOver(e *env) {
	e.open(2)
	dead := e.relay("dead")
	old := dead.take(ref)
	dead.expire()
	heir := e.relayOn(e.other(), "heir")
	leases := heir.owned(heir.beat(store.Beat{Take: []store.Shard{old[0].Shard, old[1].Shard}}), ref, 2)
	for i := range leases {
		if leases[i].Token == old[i].Token {
			e.Errorf("shard %s changed hands and kept its token", leases[i].Shard)
		}
		e.refuse(old[i], "another relay has taken the shard over")
		e.settle(&leases[i], store.Settlement{})
		e.refuse(old[i], "another relay has settled the shard")
	}
}

func giveBack(e *env) {
	e.open(2)
	first := e.relay("first")
	leases := first.take(ref)
	v := first.beat(store.Beat{Give: leases[:1]})
	if got := shardsOf(v, ref); got[0].Owner != "" || got[1].Owner != "first" {
		e.Fatalf("after giving back one of two, the owners are %q and %q", got[0].Owner, got[1].Owner)
	}
	second := e.relay("second")
	got := second.owned(second.beat(store.Beat{Take: []store.Shard{leases[0].Shard}}), ref, 1)
	e.refuse(leases[0], "the shard was given back and taken by another")
	e.settle(&got[0], store.Settlement{})
	e.settle(&leases[1], store.Settlement{})
}

func giveStale(e *env) {
	e.open(1)
	first := e.relay("first")
	old := first.take(ref)[0]
	first.beat(store.Beat{Give: []store.Lease{old}})
	l := first.take(ref)[0]
	if l.Token == old.Token {
		e.Error("a shard given back and taken again kept its token")
	}
	if v := first.beat(store.Beat{Give: []store.Lease{old}}); shardsOf(v, ref)[0].Owner != "first" {
		e.Error("a lease of an old token gave the shard back")
	}
	second := e.relay("second")
	if v := second.beat(store.Beat{Give: []store.Lease{l}}); shardsOf(v, ref)[0].Owner != "first" {
		e.Error("a relay gave back what another holds")
	}
	e.settle(&l, store.Settlement{})
	l.Version += 7
	if v := first.beat(store.Beat{Give: []store.Lease{l}}); shardsOf(v, ref)[0].Owner != "" {
		e.Error("Give looked at more than the token")
	}
}

func leave(e *env) {
	e.open(3)
	r := e.relay("r")
	leases := r.take(ref)
	r.beat(store.Beat{Leave: true, Take: []store.Shard{leases[0].Shard}})
	other := e.relay("other")
	v := other.beat(store.Beat{})
	for _, sh := range shardsOf(v, ref) {
		if sh.Owner != "" {
			e.Errorf("shard %s is still held by %q, which left", sh.Shard, sh.Owner)
		}
	}
	if len(v.Relays) != 1 {
		e.Errorf("%d relays live after one of two left", len(v.Relays))
	}
	other.take(ref)
	e.refuse(leases[0], "its relay left and another took the shard")
	if v := r.beat(store.Beat{}); v.Alive {
		e.Error("a relay that left is alive")
	}
}

func takeRace(e *env) {
	e.open(4)
	shards := e.look(ref).Shards
	var relays []*relay
	for i := range 8 {
		s := e.Store
		if i%2 == 0 {
			s = e.other()
		}
		relays = append(relays, e.relayOn(s, name("r", i)))
	}
	want := []store.Shard{shards[0].Shard, shards[1].Shard, shards[2].Shard, shards[3].Shard}
	won := make([][]store.Lease, len(relays))
	var all sync.WaitGroup
	for i, r := range relays {
		all.Go(func() {
			mine := slices.Clone(want)
			if i%3 == 0 {
				slices.Reverse(mine)
			}
			v, err := r.s.Beat(e.ctx, store.Beat{Relay: r.id, Name: "relay " + r.id, TTL: long, Works: r.works, Take: mine})
			if err != nil {
				e.Errorf("beat of %s: %v", r.id, err)
				return
			}
			for _, sh := range shardsOf(v, ref) {
				if sh.Owner == r.id {
					won[i] = append(won[i], sh.Lease)
				}
			}
		})
	}
	all.Wait()
	winners := map[store.Slots]int{}
	for _, leases := range won {
		for _, l := range leases {
			winners[l.Slots]++
			e.settle(&l, store.Settlement{})
		}
	}
	for _, sh := range want {
		if winners[sh.Slots] != 1 {
			e.Errorf("shard %s has %d winners", sh, winners[sh.Slots])
		}
	}
}

func giveAndTake(e *env) {
	e.open(2)
	r := e.relay("r")
	leases := r.take(ref)
	v := r.beat(store.Beat{Give: leases[:1], Take: []store.Shard{leases[0].Shard}})
	got := r.owned(v, ref, 2)
	if got[0].Token == leases[0].Token {
		e.Error("a shard given back and taken in one beat kept its token")
	}
	if got[1] != leases[1] {
		e.Error("the other shard's lease changed")
	}
}

func positionStays(e *env) {
	e.open(1)
	first := e.relay("first")
	l := first.take(ref)[0]
	c := e.pager()
	c.expect(e.publish(e.messages(4, "a", "b")...)...)
	e.settle(&l, store.Settlement{To: c.req.From})
	e.settle(&l, store.Settlement{})
	rest := e.publish(e.messages(3, "a", "b")...)
	first.beat(store.Beat{Leave: true})
	second := e.relayOn(e.other(), "second")
	second.take(ref)
	at := e.positions(ref)[0]
	if at != c.req.From {
		e.Error("a shard's position changed with its owner")
	}
	e.pager().from(at).expect(rest...)
}
