package storetest

import (
	"slices"
	"time"

	"github.com/postbag/postbag"
	"github.com/postbag/postbag/store"
)

// lot is a shard whose messages were read and can be parked.
type lot struct {
	*env
	s       store.Store
	r       *relay
	lease   store.Lease
	msgs    []postbag.Message
	records []store.Record
	next    store.Position // after all of them
}

// parked makes a box of one shard with a message of each key, in that order, and
// reads them under a lease.
func (e *env) parked(keys ...string) *lot {
	e.Helper()
	e.open(1)
	r := e.relay("r")
	l := &lot{env: e, s: e.Store, r: r, lease: r.take(ref)[0]}
	l.more(keys...)
	return l
}

// more publishes and reads more messages.
func (l *lot) more(keys ...string) {
	l.Helper()
	for _, key := range keys {
		l.msgs = append(l.msgs, l.publish(l.message(key))...)
	}
	c := l.pager()
	l.records = c.expect(l.msgs...)
	slices.SortFunc(l.records, func(a, b store.Record) int { return int(a.Seq - b.Seq) })
	l.next = c.req.From
}

// at returns the record of the i-th message.
func (l *lot) at(i int) store.Record { return l.records[i] }

func (l *lot) resolved(i int) store.Resolved {
	return store.Resolved{Seq: l.records[i].Seq, Hash: l.records[i].Hash}
}

// settle settles the shard and must succeed.
func (l *lot) settle(st store.Settlement) store.Verdict {
	l.Helper()
	return l.env.settle(&l.lease, st)
}

// park parks messages, at the end of what was read.
func (l *lot) park(ps ...store.Park) store.Verdict {
	l.Helper()
	return l.settle(store.Settlement{To: l.next, Park: ps})
}

// resolve removes parked messages.
func (l *lot) resolve(is ...int) store.Verdict {
	l.Helper()
	var st store.Settlement
	for _, i := range is {
		st.Resolve = append(st.Resolve, l.resolved(i))
	}
	return l.settle(st)
}

// ask returns what is due, by d and defaults.
func (l *lot) ask(d store.Due) []store.Parked {
	l.Helper()
	d.Ref = ref
	if d.Slots == nil {
		d.Slots = []store.Slots{store.AllSlots}
	}
	if d.Limit == 0 {
		d.Limit = 1000
	}
	if d.Bytes == 0 {
		d.Bytes = 1 << 20
	}
	got, err := l.s.Due(l.ctx, d)
	l.check(err, "due")
	return got
}

// due fails the case unless the messages numbered want are due, in that order.
func (l *lot) due(d store.Due, want ...int) []store.Parked {
	l.Helper()
	got := l.ask(d)
	if !l.are(got, want) {
		l.Fatalf("due are messages %v, not %v", l.numbers(got), want)
	}
	for i, n := range want {
		p := got[i]
		checkWhole(l.TB, &p.Record, &l.msgs[n])
		if p.Park.Seq != p.Record.Seq || p.Park.Slot != p.Record.Slot || p.First < 0 {
			l.Errorf("message %d is due as seq %d in slot %d, first parked %s ago", n, p.Park.Seq, p.Park.Slot, p.First)
		}
	}
	return got
}

// awaitDue waits until the messages numbered want are due, in that order.
func (l *lot) awaitDue(d store.Due, want ...int) {
	l.Helper()
	l.eventually("parked messages become due", func() bool { return len(l.ask(d)) >= len(want) })
	l.due(d, want...)
}

// numbers returns which messages ps are; -1: none of the lot.
func (l *lot) numbers(ps []store.Parked) []int {
	out := make([]int, len(ps))
	for i := range ps {
		out[i] = slices.IndexFunc(l.records, func(r store.Record) bool { return r.ID == ps[i].ID })
	}
	return out
}

func (l *lot) are(ps []store.Parked, want []int) bool { return slices.Equal(l.numbers(ps), want) }

// nextDue returns how long a turn says it is until the next message is due.
func (l *lot) nextDue() time.Duration {
	l.Helper()
	return l.turn(store.Turn{Read: []store.Request{{Ref: ref, Slots: []store.Slots{store.AllSlots}, From: l.next}}}).NextDue
}

// blocked returns the hashes of blocked keys, sorted.
func (l *lot) blocked() []uint64 {
	l.Helper()
	got, err := l.s.Blocked(l.ctx, l.lease)
	l.check(err, "blocked keys")
	return slices.Sorted(slices.Values(got.Keys))
}

// hashes returns the hashes of messages, sorted.
func (l *lot) hashes(is ...int) []uint64 {
	var out []uint64
	for _, i := range is {
		out = append(out, l.records[i].Hash)
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// in returns a park with a delay.
func in(p store.Park, d time.Duration) store.Park {
	p.Delay = d
	return p
}

// loose returns a park that blocks nothing.
func loose(p store.Park) store.Park {
	p.Blocking = false
	return p
}
