package storetest

import (
	"slices"
	"strings"
	"time"

	"github.com/postbag/postbag/store"
)

// parkedCases are about parked rows and the keys they block.
func parkedCases() []scenario {
	return []scenario{
		{name: "A parked message comes back with its bytes, attempts and reason", run: parkedWhole},
		{name: "Parked again, a message keeps its age and no other thing", run: parkedAgain},
		{name: "Blocked never replaces another state", run: blockedNeverReplaces},
		{name: "Reasons of any bytes are taken", run: reasons},
		{name: "The blocked keys of a lease are all and only those", run: blockedKeys},
		{name: "Blocked keys are those of the lease's slots", run: blockedSlots},
		{name: "Blocked keys survive a change of hands", run: blockedTakeover},
		{name: "A key is cleared when its last blocking message is resolved, not before", run: cleared},
		{name: "A resolve of what is not parked is ignored", run: resolveMissing},
		{name: "Each subscription parks for itself", run: parkedApart},
		{name: "A message in flight is due only after its shard changed hands", run: inFlight},
		{name: "A dead message is never due, and blocks its key", run: deadStays},
		{name: "Thousands of parked messages come back once each", run: parkedThousands},
	}
}

func parkedWhole(e *env) {
	l := e.parked("k", "")
	p := park(l.at(0), store.ParkRetrying)
	p.Attempts, p.Reason = 7, "the destination says no: ключ"
	q := park(l.at(1), store.ParkRetrying)
	q.Attempts, q.Reason = 0, ""
	l.park(p)
	l.park(q)
	got := l.due(store.Due{}, 0, 1)
	for i, want := range []store.Park{p, q} {
		g := got[i].Park
		if g.Delay > 0 {
			e.Errorf("message %d is due and has a delay of %s", i, g.Delay)
		}
		g.Delay = 0
		if g != want {
			e.Errorf("message %d was parked as %+v and came back as %+v", i, want, g)
		}
	}
}

func parkedAgain(e *env) {
	l := e.parked("k")
	l.park(park(l.at(0), store.ParkRetrying))
	e.pass(30 * time.Millisecond)
	first := l.due(store.Due{}, 0)[0].First
	again := park(l.at(0), store.ParkRetrying)
	again.Attempts, again.Reason = 2, "refused again"
	l.park(again)
	got := l.due(store.Due{}, 0)[0]
	if got.Attempts != 2 || got.Reason != "refused again" {
		e.Errorf("parked again with 2 attempts it has %d, reason %q", got.Attempts, got.Reason)
	}
	if got.First < first || first < 30*time.Millisecond {
		e.Errorf("first parked %s ago, and parked again %s ago", first, got.First)
	}
}

func blockedNeverReplaces(e *env) {
	l := e.parked("a", "b", "c")
	waiting := park(l.at(0), store.ParkRetrying)
	waiting.Attempts = 3
	l.park(waiting, park(l.at(1), store.ParkDead), park(l.at(2), store.ParkInFlight))
	for i := range 3 {
		b := park(l.at(i), store.ParkBlocked)
		b.Attempts = 0
		l.park(b)
	}
	if got := l.due(store.Due{}, 0)[0]; got.Attempts != 3 || got.State != store.ParkRetrying {
		e.Errorf("a waiting message that was parked as blocked again has %d attempts and is %s", got.Attempts, got.State)
	}
}

func reasons(e *env) {
	l := e.parked("a")
	all := make([]byte, 256)
	for i := range all {
		all[i] = byte(i)
	}
	for i, reason := range []struct{ text, holds string }{
		{string(all), "abc"},
		{"\x00", ""},
		{"nul \x00 inside", "nul "},
		{"\xff\xfe", ""},
		{strings.Repeat("é", 512), strings.Repeat("é", 512)},
		{strings.Repeat("🔑", 255) + "\xf0\x9f", strings.Repeat("🔑", 255)},
		{strings.Repeat("x", 1024), strings.Repeat("x", 1024)},
	} {
		p := park(l.at(0), store.ParkRetrying)
		p.Reason, p.Attempts = reason.text, i
		l.park(p)
		got := l.due(store.Due{}, 0)[0]
		if got.Attempts != i || !strings.Contains(got.Reason, reason.holds) {
			e.Errorf("parked with reason %d: %d attempts, reason %q", i, got.Attempts, got.Reason)
		}
		if strings.ToValidUTF8(got.Reason, "") != got.Reason || strings.Contains(got.Reason, "\x00") {
			e.Errorf("reason %d came back as no valid text", i)
		}
	}
}

func blockedKeys(e *env) {
	l := e.parked("a", "a", "b", "c", "d", "", "e", "f")
	l.park(
		park(l.at(0), store.ParkRetrying), park(l.at(1), store.ParkBlocked), park(l.at(2), store.ParkInFlight),
		in(park(l.at(3), store.ParkRetrying), time.Hour), park(l.at(4), store.ParkDead),
		park(l.at(5), store.ParkRetrying), loose(park(l.at(6), store.ParkRetrying)),
	)
	if got, want := l.blocked(), l.hashes(0, 2, 3, 4); !slices.Equal(got, want) {
		e.Errorf("the blocked keys are %x, not %x", got, want)
	}
	l.resolve(0)
	if got, want := l.blocked(), l.hashes(1, 2, 3, 4); !slices.Equal(got, want) {
		e.Errorf("with one of a key's two messages resolved the blocked keys are %x, not %x", got, want)
	}
	l.resolve(1, 3)
	if got, want := l.blocked(), l.hashes(2, 4); !slices.Equal(got, want) {
		e.Errorf("with two keys resolved the blocked keys are %x, not %x", got, want)
	}
}

// fourShards parks a message in each of four shards, and returns the leases and
// the records in the order of the shards.
func (e *env) fourShards() ([]store.Lease, []store.Record) {
	e.Helper()
	e.open(4)
	leases := e.relay("r").take(ref)
	e.spread(100)
	c := e.pager()
	all := c.all()
	records := make([]store.Record, 4)
	for i := range leases {
		for _, r := range all {
			if leases[i].Contains(r.Slot) && r.Hash != 0 {
				records[i] = r
			}
		}
		e.settle(&leases[i], store.Settlement{To: c.req.From, Park: []store.Park{park(records[i], store.ParkRetrying)}})
	}
	return leases, records
}

func blockedSlots(e *env) {
	leases, records := e.fourShards()
	for i, l := range leases {
		got, err := e.Store.Blocked(e.ctx, l)
		e.check(err, "blocked keys")
		if len(got.Keys) != 1 || got.Keys[0] != records[i].Hash {
			e.Errorf("shard %d has the blocked keys %x, not %x", i, got.Keys, records[i].Hash)
		}
	}
}

func blockedTakeover(e *env) {
	l := e.parked("a", "b", "b", "c")
	l.park(park(l.at(0), store.ParkDead), park(l.at(1), store.ParkRetrying), park(l.at(2), store.ParkBlocked))
	l.r.beat(store.Beat{Leave: true})
	l.s = e.other()
	l.lease = e.relayOn(l.s, "heir").take(ref)[0]
	if got, want := l.blocked(), l.hashes(0, 1); !slices.Equal(got, want) {
		e.Errorf("to the next owner the blocked keys are %x, not %x", got, want)
	}
}

func cleared(e *env) {
	l := e.parked("a", "a", "b", "", "c")
	expect := func(what string, v store.Verdict, want ...int) {
		e.Helper()
		if got := slices.Sorted(slices.Values(v.Cleared)); !slices.Equal(got, l.hashes(want...)) {
			e.Errorf("%s: the keys cleared are %x, not %x", what, got, l.hashes(want...))
		}
	}
	expect("parked", l.park(
		park(l.at(0), store.ParkRetrying), park(l.at(1), store.ParkBlocked), park(l.at(2), store.ParkDead),
		park(l.at(3), store.ParkRetrying), park(l.at(4), store.ParkRetrying)))
	expect("the first of two resolved", l.resolve(0))
	expect("the second and another key resolved", l.resolve(1, 2), 1, 2)
	expect("one without a key resolved", l.resolve(3))
	expect("parked again as not blocking", l.park(loose(park(l.at(4), store.ParkRetrying))), 4)
	l.due(store.Due{}, 4)
}

func resolveMissing(e *env) {
	l := e.parked("a", "b")
	l.park(park(l.at(0), store.ParkRetrying))
	l.settle(store.Settlement{Resolve: []store.Resolved{l.resolved(1), {Seq: l.at(1).Seq + 1000, Hash: 5}}})
	l.due(store.Due{}, 0)
}

func parkedApart(e *env) {
	l := e.parked("a", "b")
	other := store.Ref{Box: box, Subscription: "other"}
	e.declareFirst(other)
	second := e.relay("second", other).take(other)[0]
	l.park(park(l.at(0), store.ParkRetrying))
	e.settle(&second, store.Settlement{Park: []store.Park{park(l.at(0), store.ParkDead), park(l.at(1), store.ParkRetrying)}})
	l.due(store.Due{}, 0)
	got, err := e.Store.Due(e.ctx, store.Due{Ref: other, Slots: []store.Slots{store.AllSlots}, Limit: 10, Bytes: 1000})
	e.check(err, "due")
	if !l.are(got, []int{1}) {
		e.Errorf("due for another subscription are %v, not its own", l.numbers(got))
	}
	e.settle(&second, store.Settlement{Resolve: []store.Resolved{l.resolved(0), l.resolved(1)}})
	l.due(store.Due{}, 0)
}

func inFlight(e *env) {
	l := e.parked("a", "a", "b")
	l.park(park(l.at(0), store.ParkInFlight), park(l.at(1), store.ParkBlocked), loose(park(l.at(2), store.ParkInFlight)))
	e.pass(20 * time.Millisecond)
	l.due(store.Due{Followers: 5}) // nothing
	if d := l.nextDue(); d >= 0 {
		e.Errorf("with nothing but messages in flight the next is due in %s; want a negative time", d)
	}
	l.r.beat(store.Beat{})
	l.due(store.Due{Followers: 5}) // nothing
	l.r.beat(store.Beat{Leave: true})
	l.lease = e.relayOn(e.other(), "heir").take(ref)[0]
	got := l.numbers(l.ask(store.Due{Followers: 5}))
	slices.Sort(got)
	if !slices.Equal(got, []int{0, 1, 2}) {
		e.Errorf("after the shard changed hands the messages due are %v, not those in flight with their followers", got)
	}
}

func deadStays(e *env) {
	l := e.parked("a", "a", "")
	l.park(park(l.at(0), store.ParkDead), park(l.at(1), store.ParkBlocked), park(l.at(2), store.ParkDead))
	e.pass(20 * time.Millisecond)
	l.due(store.Due{Followers: 5}) // nothing
	l.r.beat(store.Beat{Leave: true})
	l.lease = e.relay("heir").take(ref)[0]
	l.due(store.Due{Followers: 5}) // nothing
	if d := l.nextDue(); d >= 0 {
		e.Errorf("with nothing but dead messages and those behind them the next is due in %s; want a negative time", d)
	}
	l.resolve(0)
	l.due(store.Due{Followers: 5}, 1)
}

func parkedThousands(e *env) {
	e.open(1)
	lease := e.relay("r").take(ref)[0]
	msgs := e.messages(3000, "a", "b", "c", "")
	e.publish(msgs...)
	c := e.pager()
	records := c.expect(msgs...)
	for part := range slices.Chunk(records, 1000) {
		var st store.Settlement
		for _, r := range part {
			state := store.ParkBlocked
			if r.Hash == 0 {
				state = store.ParkRetrying
			}
			st.Park = append(st.Park, park(r, state))
		}
		e.settle(&lease, st)
	}
	var got []store.Record
	for len(got) < len(records) {
		d := store.Due{Ref: ref, Slots: []store.Slots{store.AllSlots}, Limit: 700, Bytes: 1 << 20, Followers: 200}
		ps, err := e.Store.Due(e.ctx, d)
		e.check(err, "due")
		if len(ps) == 0 {
			e.Fatalf("after %d of %d parked messages nothing is due", len(got), len(records))
		}
		var st store.Settlement
		for _, p := range ps {
			got = append(got, p.Record)
			st.Resolve = append(st.Resolve, store.Resolved{Seq: p.Record.Seq, Hash: p.Park.Hash})
		}
		e.settle(&lease, st)
	}
	checkExact(e.TB, got, msgs)
}
