package storetest

import (
	"slices"

	"github.com/postbag/postbag"
	"github.com/postbag/postbag/store"
)

// slotCases are about reading some slots of a box.
func slotCases() []scenario {
	return []scenario{
		{name: "Ranges that split a box hold each message once", run: slotsSplit},
		{name: "Several ranges in one read are their union", run: slotsUnion},
		{name: "Several reads in one turn answer each for itself, in order", run: readsAlternate},
		{name: "A shard key decides the slot in place of the key", run: shardKeys},
		{name: "A range of one slot holds that slot alone", run: oneSlot},
	}
}

// spread are messages of many keys and none.
func (e *env) spread(n int) []postbag.Message {
	keys := make([]string, 40)
	for i := range keys {
		if i%4 != 0 {
			keys[i] = name("key", i)
		}
	}
	return e.publish(e.messages(n, keys...)...)
}

// inSlots returns those of msgs that lie in the ranges.
func inSlots(msgs []postbag.Message, ranges ...store.Slots) []postbag.Message {
	return slices.DeleteFunc(slices.Clone(msgs), func(m postbag.Message) bool {
		return !anyContains(ranges, store.SlotOf(&m))
	})
}

func slotsSplit(e *env) {
	e.open(1)
	msgs := e.spread(300)
	for _, n := range []int{1, 2, 3, 7, 64} {
		var got []store.Record
		for _, r := range store.Split(n) {
			part := e.pager(r).limit(20)
			part.all()
			checkExact(e.TB, part.got, inSlots(msgs, r))
			got = append(got, part.got...)
		}
		checkExact(e.TB, got, msgs)
		if e.Failed() {
			e.Fatalf("split into %d", n)
		}
	}
}

func slotsUnion(e *env) {
	e.open(1)
	msgs := e.spread(300)
	parts := store.Split(9)
	some := []store.Slots{parts[7], parts[1], parts[4], parts[2]}
	c := e.pager(some...).limit(17)
	c.all()
	checkExact(e.TB, c.got, inSlots(msgs, some...))
	more := e.spread(100)
	c.expect(inSlots(more, some...)...)
}

func readsAlternate(e *env) {
	e.open(1)
	ends, parts := e.group(3)
	half := store.Split(2)
	read := func(from store.Position, r store.Slots) store.Request {
		return store.Request{Ref: ref, Slots: []store.Slots{r}, From: from, Limit: 1000, Bytes: 1 << 20}
	}
	batches := e.turn(store.Turn{Read: []store.Request{
		read(ends[1], half[0]), read("", half[1]), read(ends[0], store.AllSlots), read(ends[2], store.AllSlots),
	}}).Batches
	all := slices.Concat(parts...)
	for i, want := range [][]postbag.Message{
		inSlots(parts[2], half[0]), inSlots(all, half[1]), append(parts[1], parts[2]...), nil,
	} {
		checkExact(e.TB, batches[i].Records, want)
		if e.Failed() {
			e.Fatalf("read %d of the turn", i)
		}
	}
}

func shardKeys(e *env) {
	e.open(1)
	msgs := e.messages(40, "a", "b", "c", "d")
	for i := range msgs {
		msgs[i].ShardKey = "together"
	}
	e.publish(msgs...)
	lone := e.message("a")
	e.publish(lone)
	slot := store.SlotOf(&postbag.Message{Key: "together"})
	c := e.pager(store.Slots{Lo: slot, Hi: slot + 1})
	c.expect(msgs...)
	if store.SlotOf(&lone) == slot {
		e.Fatal("the keys of the case share a slot; it shows nothing")
	}
}

func oneSlot(e *env) {
	e.open(1)
	msgs := e.spread(200)
	slot := store.SlotOf(&msgs[1])
	r := store.Slots{Lo: slot, Hi: slot + 1}
	e.pager(r).limit(2).expect(inSlots(msgs, r)...)
	rest := []store.Slots{{Lo: 0, Hi: slot}, {Lo: slot + 1, Hi: store.SlotCount}}
	e.pager(rest...).limit(50).expect(inSlots(msgs, rest...)...)
}
