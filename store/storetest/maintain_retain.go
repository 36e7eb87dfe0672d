package storetest

import (
	"errors"
	"slices"
	"sync"
	"time"

	"github.com/postbag/postbag"
	"github.com/postbag/postbag/store"
)

// retentionCases are about what Maintain drops, and what it must not.
func retentionCases() []scenario {
	return []scenario{
		{name: "What every subscription has passed is dropped, and nothing else", run: retentionDrops},
		{name: "Nothing is dropped while a subscription lags", run: retentionLag},
		{name: "Nothing is dropped while one shard of a subscription lags", run: retentionShard},
		{name: "Nothing is dropped before its time", run: retentionKeep},
		{name: "A parked message outlives the log, with its bytes", run: retentionParked},
		{name: "A message of a transaction that is open all the while is kept and read", needs: concurrentWriters, run: retentionOpen},
		{name: "An open transaction holds up neither housekeeping nor, through it, producers", needs: concurrentWriters, run: retentionBeside},
		{name: "Maintain needs the lease of its pseudo-subscription", run: maintainLease},
		{name: "The maintenance lease is one, and changes hands like others", run: maintainOwner},
	}
}

// history is a box whose messages were read and can be settled.
type history struct {
	*upkeep
	leases  []store.Lease
	msgs    []postbag.Message
	records []store.Record
	next    store.Position // after all of them
}

// history publishes messages, ends the span that they lie in, where the database
// can do that, and publishes one more, so that the highest of the log is none of
// theirs. It reads them all and settles nothing.
func (e *env) history(shards int) *history {
	e.Helper()
	e.open(shards)
	h := &history{upkeep: e.upkeep(), leases: e.relay("r").take(ref)}
	h.keep = time.Millisecond
	h.fill(20)
	return h
}

func (h *history) fill(n int) {
	h.Helper()
	h.msgs = append(h.msgs, h.spread(n)...)
	if h.Burn != nil {
		h.check(h.Burn(h.ctx, box), "burn seqs")
	}
	last := h.publish(h.message("last"))
	c := h.pager()
	if h.next != "" {
		c.from(h.next)
	}
	all := c.expect(append(h.msgs[len(h.msgs)-n:len(h.msgs):len(h.msgs)], last...)...)
	h.records = append(h.records, all...)
	h.next = c.req.From
}

// settleAll settles every shard at the end of what was read: as other says, and
// as delivered where it does not say.
func (h *history) settleAll(other ...store.Settlement) {
	h.Helper()
	for i := range h.leases {
		st := store.Settlement{}
		if i < len(other) {
			st = other[i]
		}
		st.To = h.next
		if st.Tally == nil {
			st.Tally = tally(store.TallyDelivered, h.of(i)...)
		}
		h.settle(&h.leases[i], st)
	}
}

// of returns the records of the i-th shard.
func (h *history) of(i int) []store.Record {
	var out []store.Record
	for _, r := range h.records {
		if h.leases[i].Contains(r.Slot) {
			out = append(out, r)
		}
	}
	return out
}

// left returns how many of the messages the log still holds.
func (h *history) left() int {
	h.Helper()
	there := map[postbag.ID]bool{}
	for _, r := range h.pager().all() {
		there[r.ID] = true
	}
	n := 0
	for _, m := range h.msgs {
		if there[m.ID] {
			n++
		}
	}
	return n
}

// kept fails the case if anything of the messages is dropped.
func (h *history) kept(why string) {
	h.Helper()
	for range 3 {
		h.round()
		h.pass(5 * time.Millisecond)
	}
	if n := h.left(); n != len(h.msgs) {
		h.Fatalf("of %d messages %d are left, although %s", len(h.msgs), n, why)
	}
}

// dropped waits until all of the messages are dropped.
func (h *history) dropped() {
	h.Helper()
	h.eventually("passed messages are dropped", func() bool {
		h.round()
		return h.left() == 0
	})
	if h.total.Deleted+h.total.Dropped == 0 {
		h.Error("messages were dropped, and the reports say nothing of it")
	}
	if len(h.total.Faults) > 0 {
		h.Errorf("messages were dropped with faults: %q", h.total.Faults)
	}
}

func retentionDrops(e *env) {
	h := e.history(3)
	h.kept("no shard has passed them")
	h.settleAll()
	h.dropped()
	c := e.pager().from(h.next)
	c.expect(e.spread(30)...)
}

func retentionLag(e *env) {
	h := e.history(1)
	late := store.Ref{Box: box, Subscription: "late"}
	e.declareFirst(late)
	lease := e.relay("late", late).take(late)[0]
	h.settleAll()
	h.kept("a second subscription has not passed them")
	e.settle(&lease, store.Settlement{To: h.next, Tally: tally(store.TallyDelivered, h.records...)})
	h.dropped()
}

func retentionShard(e *env) {
	h := e.history(4)
	for i := range h.leases[:3] {
		e.settle(&h.leases[i], store.Settlement{To: h.next, Tally: tally(store.TallyDelivered, h.of(i)...)})
	}
	h.kept("the last of four shards has not passed them")
	e.settle(&h.leases[3], store.Settlement{To: h.next, Tally: tally(store.TallyDelivered, h.of(3)...)})
	h.dropped()
}

func retentionKeep(e *env) {
	h := e.history(1)
	h.keep = time.Hour
	h.settleAll()
	h.kept("they are to be kept for an hour")
	if e.Advance != nil {
		e.Advance(59 * time.Minute)
		h.kept("they are to be kept for an hour and that is not over")
		e.Advance(2 * time.Minute)
	} else {
		h.keep = time.Millisecond
	}
	h.dropped()
}

func retentionParked(e *env) {
	h := e.history(1)
	parked := h.records[:3]
	var st store.Settlement
	for _, r := range parked {
		st.Park = append(st.Park, loose(park(r, store.ParkRetrying)))
	}
	st.Tally = append(tally(store.TallyParked, parked...), tally(store.TallyDelivered, h.records[3:]...)...)
	h.settleAll(st)
	h.dropped()
	if h.total.Copied != int64(len(parked)) {
		e.Errorf("of %d parked messages the reports say %d were copied out", len(parked), h.total.Copied)
	}
	all := store.Due{Ref: ref, Slots: []store.Slots{store.AllSlots}, Limit: 10, Bytes: 1 << 20}
	got, err := e.Store.Due(e.ctx, all)
	e.check(err, "due")
	var records []store.Record
	for _, p := range got {
		records = append(records, p.Record)
	}
	checkOnce(e.TB, records, messagesAfter(h.msgs, h.records[3:]))
	var done store.Settlement
	for _, r := range parked {
		done.Resolve = append(done.Resolve, store.Resolved{Seq: r.Seq, Hash: r.Hash})
	}
	done.Tally = append(less(tally(store.TallyParked, parked...)), tally(store.TallyDelivered, parked...)...)
	e.settle(&h.leases[0], done)
	h.round()
	if got, err := e.Store.Due(e.ctx, all); err != nil || len(got) > 0 {
		e.Errorf("%d messages are due after all were resolved (error: %v)", len(got), err)
	}
}

func retentionOpen(e *env) {
	e.open(1)
	tx := e.begin()
	late := e.append(tx, e.messages(3, "late")...)
	h := &history{upkeep: e.upkeep(), leases: e.relay("r").take(ref)}
	h.keep = time.Millisecond
	h.fill(20)
	h.settleAll()
	for range 3 {
		h.round()
		e.pass(5 * time.Millisecond)
	}
	e.commit(tx)
	e.pager().from(e.positions(ref)[0]).expect(late...)
}

func retentionBeside(e *env) {
	h := e.history(1)
	h.settleAll()
	tx := e.begin()
	late := e.append(tx, e.message("late"))
	done := make(chan struct{})
	longest := time.Duration(0)
	var producer sync.WaitGroup
	producer.Go(func() {
		for {
			select {
			case <-done:
				return
			default:
			}
			began := time.Now()
			if err := e.writeSoon(e.ctx); err != nil {
				e.Errorf("write beside housekeeping: %v", err)
				return
			}
			longest = max(longest, time.Since(began))
		}
	})
	end := sync.OnceFunc(func() {
		close(done)
		producer.Wait()
	})
	defer end()
	for range 5 {
		h.round()
		e.pass(5 * time.Millisecond)
	}
	end()
	if longest > e.patience/3 {
		e.Errorf("a producer waited %s", longest)
	}
	e.commit(tx)
	c := e.pager().from(e.positions(ref)[0])
	c.all()
	if !slices.ContainsFunc(c.got, func(r store.Record) bool { return r.ID == late[0].ID }) {
		e.Error("what was open all the while is not read")
	}
}

func maintainLease(e *env) {
	h := e.history(1)
	h.settleAll()
	for _, l := range []store.Lease{
		{Shard: h.lease.Shard, Token: h.lease.Token + 1000, Version: h.lease.Version},
		{Shard: h.lease.Shard},
		h.leases[0],
	} {
		rep, err := e.Store.Maintain(e.ctx, store.Retention{Lease: l, Keep: time.Millisecond})
		if !errors.Is(err, store.ErrLeaseLost) {
			e.Errorf("Maintain under the lease of %s with token %d: %v, not ErrLeaseLost", l.Shard, l.Token, err)
		}
		if rep.Deleted+rep.Dropped+rep.Promoted > 0 {
			e.Errorf("Maintain under no lease did something: %+v", rep)
		}
	}
	if n := h.left(); n != len(h.msgs) {
		e.Errorf("of %d messages %d are left after Maintain under no lease", len(h.msgs), n)
	}
}

func maintainOwner(e *env) {
	e.open(1)
	u := e.upkeep()
	of := u.lease.Ref
	second := e.relayOn(e.other(), "second", of)
	if v := second.beat(store.Beat{Take: []store.Shard{u.lease.Shard}}); shardsOf(v, of)[0].Owner != "upkeep" {
		e.Fatalf("the maintenance lease of a live relay went to %q", shardsOf(v, of)[0].Owner)
	}
	u.r.beat(store.Beat{Leave: true})
	second.take(of)
	if _, err := e.Store.Maintain(e.ctx, store.Retention{Lease: u.lease, Keep: time.Hour}); !errors.Is(err, store.ErrLeaseLost) {
		e.Errorf("Maintain under a lease that another has taken: %v, not ErrLeaseLost", err)
	}
}
