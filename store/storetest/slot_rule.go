package storetest

import (
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/postbag/postbag"
	"github.com/postbag/postbag/store"
)

// ruleCases are about boxes whose slots are made by number.
func ruleCases() []scenario {
	return []scenario{
		{name: "Slots by number are the number modulo 4096", needs: slotRules, run: ruleNumbers},
		{name: "A read of some slots by number holds their messages alone", needs: slotRules, run: ruleRanges},
		{name: "A box by number refuses a key that is no number", needs: slotRules, run: ruleRefuses},
		{name: "A box keeps the rule for slots that it was made with", needs: slotRules, run: ruleKept},
		{name: "A scheduled message of a box by number comes in its slot", needs: slotRules, run: ruleScheduled},
		{name: "A scheduled message whose key is no number is refused by a box by number", needs: slotRules, run: ruleRefusesScheduled},
		{name: "A parked message of a box by number waits in its slot", needs: slotRules, run: ruleParked},
		{name: "A command for a pending message of a box by number goes to its slot", needs: slotRulesEditing, run: ruleCommand},
		{name: "An erased message of a box by number stays in its slot", needs: slotRulesEditing, run: ruleErased},
		{name: "Shard keys of many zeros come as they were written", run: ruleZeros},
		{name: "Dead letters of a box by hash go to no box by number", needs: slotRulesLetters, run: ruleLetters},
	}
}

func slotRules(f store.Features) bool        { return f.SlotRules }
func slotRulesEditing(f store.Features) bool { return f.SlotRules && f.Editing }
func slotRulesLetters(f store.Features) bool { return f.SlotRules && f.DeadLetters }

func (e *env) slotMigrator() store.SlotMigrator {
	e.Helper()
	m, ok := e.Store.(store.SlotMigrator)
	if !ok {
		e.Fatal("the store declares SlotRules and is no SlotMigrator")
	}
	return m
}

// openByNumber is open for a box by number.
func (e *env) openByNumber(shards int) {
	e.Helper()
	e.check(e.slotMigrator().CreateBoxBy(e.ctx, box, store.SlotsByNumber), "create the box by number")
	e.declare(store.Spec{Ref: ref, Shards: shards})
}

// numbers are keys that are numbers, with their slots.
var numbers = map[string]int{
	"0": 0, "1": 1, "9": 9, "4095": 4095, "4096": 0, "4097": 1, "10000": 1808, "-0": 0, "-1": 4095, "-9": 4087, "-4096": 0, "-4097": 4095,
	"007": 7, "-007": 4089, "9223372036854775807": 4095, "-9223372036854775808": 0, "18446744073709551615": 4095,
	"999999999999": 4095, "-999999999999": 1, "1000000000000": 0, "100000000000000000000000000000000000000017": 17,
}

// noNumbers are keys that are none.
var noNumbers = []string{"-", "--1", "+1", " 1", "1 ", "1\n", "\n1", "1.0", "1e3", "0x10", "1_0", "1,0", "a", "1a", "a1", "1-", "-1-", "٣", "−1", "Ⅷ"}

// numbered are messages with all of numbers, as keys and as shard keys, and without any.
func (e *env) numbered() (msgs []postbag.Message, slots map[postbag.ID]int) {
	slots = map[postbag.ID]int{}
	add := func(m postbag.Message, slot int) {
		msgs = append(msgs, m)
		slots[m.ID] = slot
	}
	for key, slot := range numbers {
		add(e.message(key), slot)
		m := e.message("customer")
		m.ShardKey = key
		add(m, slot)
		m = e.message("77")
		m.ShardKey = key
		add(m, slot)
	}
	m := e.message("")
	add(m, store.SlotOf(&m))
	return msgs, slots
}

func ruleNumbers(e *env) {
	e.openByNumber(1)
	msgs, slots := e.numbered()
	e.publish(msgs...)
	one := e.message("4099")
	e.publish(one) // alone, which stores do in another way
	slots[one.ID] = 3
	c := e.pager()
	c.await(len(slots))
	e.placed(c.got, slots)
}

// placed fails the case unless records are those of slots, in them.
func (e *env) placed(got []store.Record, slots map[postbag.ID]int) {
	e.Helper()
	if len(got) != len(slots) {
		e.Fatalf("%d messages came, not %d", len(got), len(slots))
	}
	for i := range got {
		r := &got[i]
		if want, there := slots[r.ID]; !there || r.Slot != want {
			e.Errorf("the message with key %q and shard key %q is in slot %d, not %d", r.Key, r.ShardKey, r.Slot, want)
		}
		if r.Hash != store.KeyHash(r.Key) {
			e.Errorf("the message with key %q has the hash %x", r.Key, r.Hash)
		}
	}
}

func ruleRanges(e *env) {
	e.openByNumber(1)
	msgs, slots := e.numbered()
	e.publish(msgs...)
	for _, of := range [][]store.Slots{{{Lo: 0, Hi: 1}}, {{Lo: 4095, Hi: 4096}}, {{Lo: 1, Hi: 2}, {Lo: 7, Hi: 18}}, {{Lo: 0, Hi: 2048}}} {
		want := map[postbag.ID]int{}
		for id, slot := range slots {
			if anyContains(of, slot) {
				want[id] = slot
			}
		}
		c := e.pager(of...).limit(5)
		c.await(len(want))
		c.all()
		e.placed(c.got, want)
	}
}

func ruleRefuses(e *env) {
	e.openByNumber(1)
	for _, key := range noNumbers {
		for _, m := range []postbag.Message{e.message(key), sharded(e.message("1"), key), sharded(e.message(""), key)} {
			e.refused(m)
		}
	}
	good := e.message("12")
	e.publish(good)
	c := e.pager()
	c.await(1)
	c.all()
	e.placed(c.got, map[postbag.ID]int{good.ID: 12})
}

func sharded(m postbag.Message, key string) postbag.Message {
	m.ShardKey = key
	return m
}

// refused fails the case if a message is written whose key is no number.
func (e *env) refused(m postbag.Message) {
	e.Helper()
	tx := e.begin()
	err := e.Appender.Append(e.ctx, tx, box, []postbag.Message{m})
	e.rollback(tx)
	if !errors.Is(err, store.ErrNoNumber) {
		e.Errorf("a message with key %q and shard key %q: %v, not ErrNoNumber", m.Key, m.ShardKey, err)
	}
}

func ruleKept(e *env) {
	m := e.slotMigrator()
	e.openByNumber(1)
	const byHash, plain = "byhash", "plain"
	e.check(m.CreateBoxBy(e.ctx, byHash, store.SlotsByHash), "create a box by hash")
	e.check(e.Create(e.ctx, plain), "create a box")
	for name, by := range map[string]store.SlotRule{box: store.SlotsByNumber, byHash: store.SlotsByHash, plain: store.SlotsByHash} {
		for _, s := range []store.Store{e.Store, e.other()} {
			of, ok := s.(store.SlotMigrator)
			if !ok {
				e.Fatal("another store of the same kind is no SlotMigrator")
			}
			if got, err := of.SlotRule(e.ctx, name); err != nil || got != by {
				e.Errorf("box %s has slots by %q, %v; want %s", name, got, err, by)
			}
			e.check(of.CreateBoxBy(e.ctx, name, by), "create the box again by its rule")
			e.check(of.CreateBoxBy(e.ctx, name, ""), "create the box again by no rule")
			e.check(of.CreateBox(e.ctx, name), "create the box again")
			other := store.SlotsByNumber
			if by == other {
				other = store.SlotsByHash
			}
			if err := of.CreateBoxBy(e.ctx, name, other); !errors.Is(err, store.ErrSlotRule) {
				e.Errorf("box %s made again by %s: %v, not ErrSlotRule", name, other, err)
			}
			if got, err := of.SlotRule(e.ctx, name); err != nil || got != by {
				e.Errorf("box %s that was made again has slots by %q, %v; want %s", name, got, err, by)
			}
		}
	}
	if err := m.CreateBoxBy(e.ctx, "odd", "custom"); err == nil {
		e.Error("a box was made by a rule that there is not")
	}
	if _, err := m.SlotRule(e.ctx, "odd"); !errors.Is(err, store.ErrNoBox) {
		e.Errorf("the rule of no box: %v, not ErrNoBox", err)
	}
}

func ruleScheduled(e *env) {
	e.openByNumber(1)
	u := e.upkeep()
	slots := map[postbag.ID]int{}
	c, _ := u.before(tick*20, func(soon time.Time) any {
		clear(slots)
		for _, key := range []string{"5", "-5", "4096005"} {
			m := at(sharded(e.message("customer"), key), soon)
			slots[m.ID], _ = store.NumberSlot(key)
			e.publish(m)
		}
		return nil
	})
	c.got = nil // those of a try that was too slow
	e.eventually("scheduled messages are promoted", func() bool {
		u.round()
		c.all()
		return len(c.got) >= len(slots)
	})
	e.placed(c.got, slots)
}

func ruleRefusesScheduled(e *env) {
	e.openByNumber(1)
	for _, key := range []string{"customer", "-", "1 "} {
		e.refused(at(e.message(key), e.now().Add(longAfter)))
		e.refused(at(sharded(e.message("1"), key), e.now().Add(longAfter)))
	}
	e.check(e.Create(e.ctx, "plain"), "create a box by hash")
	tx := e.begin()
	e.check(e.Appender.Append(e.ctx, tx, "plain", []postbag.Message{at(e.message("customer"), e.now().Add(longAfter))}), "schedule in a box by hash")
	e.commit(tx)
}

// ruleParked: the key is in the second half, and its hash in the first.
func ruleParked(e *env) {
	const key, slot = "3002", 3002
	half := store.Split(2)
	if m := e.message(key); !half[0].Contains(store.SlotOf(&m)) {
		e.Fatal("the key of the case lies in one half by either rule; it shows nothing")
	}
	e.openByNumber(2)
	leases := e.relay("r").take(ref)
	e.publish(e.message(key))
	c := e.pager()
	c.await(1)
	p := park(c.got[0], store.ParkRetrying)
	e.settle(&leases[1], store.Settlement{To: c.req.From, Park: []store.Park{p}})
	due := func(s store.Slots) []store.Parked {
		got, err := e.Store.Due(e.ctx, store.Due{Ref: ref, Slots: []store.Slots{s}, Limit: 10, Bytes: 1 << 20})
		e.check(err, "due")
		return got
	}
	e.eventually("the parked message is due", func() bool { return len(due(store.AllSlots)) > 0 })
	if got := due(half[0]); len(got) != 0 {
		e.Errorf("in the other half %d messages are due", len(got))
	}
	got := due(half[1])
	if len(got) != 1 || got[0].Park.Slot != slot || got[0].Record.Slot != slot {
		e.Errorf("in its half is due %+v, not one in slot %d", got, slot)
	}
}

func ruleCommand(e *env) {
	e.inspector()
	const key, slot = "3002", 3002
	e.openByNumber(2)
	leases := e.relay("r").take(ref)
	m := e.publish(e.message(key))[0]
	c := e.pager()
	c.await(1)
	if it := e.shown(m.ID); len(it) != 1 || it[0].Slot != slot || it[0].State != store.StatePending {
		e.Errorf("the pending message is shown as %+v, not in slot %d", it, slot)
	}
	// The other half is passed, so that only the rule tells whether the message is.
	e.settle(&leases[0], store.Settlement{To: c.req.From})
	n, err := e.operator().Command(e.ctx, why, ref, store.Discard, []int64{c.got[0].Seq})
	if e.check(err, "discard"); n != 1 {
		e.Fatalf("a discard of one pending message was queued %d times", n)
	}
	ask := func(s store.Slots) []store.Command {
		return e.turn(store.Turn{Read: []store.Request{{Ref: ref, Slots: []store.Slots{s}}}}).Commands
	}
	half := store.Split(2)
	if got := ask(half[0]); len(got) != 0 {
		e.Errorf("the owner of the other half gets %+v", got)
	}
	if got := ask(half[1]); len(got) != 1 || got[0].Park.Slot != slot {
		e.Errorf("the owner of its half gets %+v, not one in slot %d", got, slot)
	}
}

func ruleErased(e *env) {
	ed := e.editor()
	e.openByNumber(2)
	leases := e.relay("r").take(ref)
	msgs, slots := e.numbered()
	e.publish(msgs...)
	c := e.pager()
	c.await(len(msgs))
	for i := range leases {
		var own []store.Record
		for _, r := range c.got {
			if leases[i].Contains(r.Slot) {
				own = append(own, r)
			}
		}
		e.settle(&leases[i], store.Settlement{To: c.req.From, Tally: tally(store.TallyDelivered, own...)})
	}
	var ids []postbag.ID
	for _, m := range msgs {
		ids = append(ids, m.ID)
	}
	got, err := ed.Erase(e.ctx, why, box, ids)
	if e.check(err, "erase"); got.Messages != len(ids) {
		e.Fatalf("of %d delivered messages %d are erased", len(ids), got.Messages)
	}
	again := e.pager()
	again.await(len(msgs))
	e.placed(again.got, slots)
	if i := slices.IndexFunc(again.got, func(r store.Record) bool { return r.Key != "" || r.ShardKey != "" || len(r.Payload) > 0 }); i >= 0 {
		e.Errorf("an erased message still has key %q, shard key %q and %d bytes", again.got[i].Key, again.got[i].ShardKey, len(again.got[i].Payload))
	}
}

// ruleZeros: some are keys that stand for none, and none is the mark of an erased message.
func ruleZeros(e *env) {
	e.open(1)
	var msgs []postbag.Message
	want := map[postbag.ID]string{}
	for _, key := range []string{strings.Repeat("0", 60), strings.Repeat("0", 64), strings.Repeat("0", 60) + "4095", strings.Repeat("0", 1024), "-0", "-00001"} {
		m := sharded(e.message("customer"), key)
		msgs, want[m.ID] = append(msgs, m), key
	}
	e.publish(msgs...)
	c := e.pager()
	c.await(len(want))
	for i := range c.got {
		if r := &c.got[i]; r.ShardKey != want[r.ID] {
			e.Errorf("the shard key %q came as %q", want[r.ID], r.ShardKey)
		}
	}
}

func ruleLetters(e *env) {
	m := e.slotMigrator()
	e.check(m.CreateBoxBy(e.ctx, "numbers", store.SlotsByNumber), "create a box by number")
	e.check(m.CreateBoxBy(e.ctx, letterBox, store.SlotsByNumber), "create another box by number")
	e.check(e.Create(e.ctx, box), "create a box by hash")
	if err := e.Store.Declare(e.ctx, []store.Spec{{Ref: ref, DeadTo: letterBox}}); err == nil {
		e.Error("dead letters of a box by hash may go to a box by number, which refuses their keys")
	}
	e.declare(store.Spec{Ref: ref})
	number := store.Ref{Box: "numbers", Subscription: "default"}
	e.declare(store.Spec{Ref: number, DeadTo: letterBox}, store.Spec{Ref: store.Ref{Box: "numbers", Subscription: "other"}, DeadTo: box})
}
