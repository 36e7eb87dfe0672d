package storetest

import (
	"time"

	"github.com/postbag/postbag/store"
)

// dueCases are about which parked messages can be tried.
func dueCases() []scenario {
	return []scenario{
		{name: "The longest due comes first", run: dueOrder},
		{name: "What is due later is not due, and the wait is told", run: dueLater},
		{name: "Of a blocked key only the first message counts", run: dueHead},
		{name: "Followers come right behind the first of their key", run: dueFollowers},
		{name: "Followers end before the first that is not blocked", run: dueFollowersEnd},
		{name: "A follower is due at once when it has become the first", run: duePromoted},
		{name: "A message parked before the first of its key becomes the first", run: dueEarlier},
		{name: "Messages that block nothing count by themselves", run: dueLoose},
		{name: "Messages that the caller has already are left out, with their keys", run: dueSkip},
		{name: "Limit counts followers too", run: dueLimit},
		{name: "Bytes bound the answer, and the message that crosses comes too", run: dueBytes},
		{name: "Only the slots asked for count", run: dueSlots},
		{name: "Under one hash for all, a shard's first message counts", run: dueStrict},
	}
}

func dueOrder(e *env) {
	l := e.parked("a", "b", "c", "")
	for _, i := range []int{2, 0, 3, 1} {
		l.park(park(l.at(i), store.ParkRetrying))
		e.pass(2 * time.Millisecond)
	}
	l.due(store.Due{}, 2, 0, 3, 1)
	l.park(
		in(park(l.at(0), store.ParkRetrying), 90*time.Millisecond),
		in(park(l.at(1), store.ParkRetrying), 30*time.Millisecond),
		in(park(l.at(2), store.ParkRetrying), 60*time.Millisecond),
	)
	l.awaitDue(store.Due{}, 3, 1, 2, 0)
}

func dueLater(e *env) {
	l := e.parked("a", "b")
	if d := l.nextDue(); d >= 0 {
		e.Errorf("with nothing parked the next is due in %s; want a negative time", d)
	}
	l.park(in(park(l.at(0), store.ParkRetrying), time.Hour))
	l.due(store.Due{}) // nothing
	if d := l.nextDue(); d < 50*time.Minute || d > time.Hour {
		e.Errorf("parked for an hour, the next is due in %s", d)
	}
	l.park(in(park(l.at(1), store.ParkRetrying), 40*time.Millisecond))
	if d := l.nextDue(); d < 0 || d > 40*time.Millisecond {
		e.Errorf("parked for 40 ms, the next is due in %s", d)
	}
	l.awaitDue(store.Due{}, 1)
	if d := l.nextDue(); d != 0 {
		e.Errorf("with one due the next is due in %s, not 0", d)
	}
	l.resolve(1)
	if d := l.nextDue(); d < 50*time.Minute {
		e.Errorf("with that one resolved the next is due in %s", d)
	}
}

func dueHead(e *env) {
	l := e.parked("k", "k", "k")
	l.park(in(park(l.at(0), store.ParkRetrying), time.Hour), park(l.at(1), store.ParkRetrying), park(l.at(2), store.ParkBlocked))
	l.due(store.Due{Followers: 5}) // nothing
	if d := l.nextDue(); d < 50*time.Minute {
		e.Errorf("with its first message waiting for an hour a key's next is due in %s", d)
	}
	l.park(park(l.at(0), store.ParkInFlight))
	l.due(store.Due{Followers: 5}) // nothing
	if d := l.nextDue(); d >= 0 {
		e.Errorf("with its first message in flight a key's next is due in %s; want a negative time", d)
	}
}

func dueFollowers(e *env) {
	l := e.parked("k", "k", "x", "k", "k")
	l.park(park(l.at(0), store.ParkRetrying), park(l.at(1), store.ParkBlocked), park(l.at(3), store.ParkBlocked), park(l.at(4), store.ParkBlocked))
	l.due(store.Due{}, 0)
	l.due(store.Due{Followers: 1}, 0, 1)
	l.due(store.Due{Followers: 2}, 0, 1, 3)
	l.due(store.Due{Followers: 9}, 0, 1, 3, 4)
	e.pass(2 * time.Millisecond)
	l.park(park(l.at(2), store.ParkRetrying))
	l.due(store.Due{Followers: 2}, 0, 1, 3, 2)
}

func dueFollowersEnd(e *env) {
	l := e.parked("k", "k", "k", "k")
	for _, state := range []store.ParkState{store.ParkRetrying, store.ParkInFlight, store.ParkDead} {
		l.resolve(0, 1, 2, 3)
		l.park(park(l.at(0), store.ParkRetrying), park(l.at(1), store.ParkBlocked), park(l.at(2), state), park(l.at(3), store.ParkBlocked))
		l.due(store.Due{Followers: 5}, 0, 1)
	}
}

func duePromoted(e *env) {
	l := e.parked("k", "k", "k")
	l.park(in(park(l.at(0), store.ParkRetrying), time.Hour), park(l.at(1), store.ParkBlocked), park(l.at(2), store.ParkBlocked))
	l.resolve(0)
	l.due(store.Due{Followers: 5}, 1, 2)
	if d := l.nextDue(); d != 0 {
		e.Errorf("with a follower that has become the first the next is due in %s, not 0", d)
	}
	l.resolve(1)
	l.due(store.Due{Followers: 5}, 2)
	l.resolve(2)
	l.due(store.Due{Followers: 5}) // nothing
}

func dueEarlier(e *env) {
	l := e.parked("k", "k", "k")
	l.park(park(l.at(1), store.ParkRetrying), park(l.at(2), store.ParkBlocked))
	l.due(store.Due{Followers: 5}, 1, 2)
	l.park(in(park(l.at(0), store.ParkRetrying), time.Hour))
	l.due(store.Due{Followers: 5}) // nothing
	l.park(park(l.at(0), store.ParkRetrying))
	l.due(store.Due{Followers: 5}, 0)
}

func dueLoose(e *env) {
	l := e.parked("k", "k", "", "")
	for i := range 4 {
		l.park(loose(park(l.at(i), store.ParkRetrying)))
		e.pass(2 * time.Millisecond)
	}
	l.due(store.Due{Followers: 5}, 0, 1, 2, 3)
	zero := park(l.at(2), store.ParkRetrying)
	zero.Blocking = true // a hash of zero blocks nothing all the same
	l.park(zero)
	l.due(store.Due{}, 0, 1, 3, 2)
	if got := l.blocked(); len(got) > 0 {
		e.Errorf("messages that block nothing block the keys %x", got)
	}
}

func dueSkip(e *env) {
	l := e.parked("a", "a", "b", "b", "", "")
	for i := range 6 {
		state := store.ParkRetrying
		if i == 1 || i == 3 {
			state = store.ParkBlocked
		}
		l.park(park(l.at(i), state))
		e.pass(2 * time.Millisecond)
	}
	all := store.Due{Followers: 5}
	l.due(all, 0, 1, 2, 3, 4, 5)
	all.Skip = []int64{l.at(0).Seq, l.at(4).Seq}
	l.due(all, 2, 3, 5)
	all.Skip = append(all.Skip, l.at(1).Seq, l.at(2).Seq, l.at(3).Seq, l.at(5).Seq)
	l.due(all) // nothing
}

func dueLimit(e *env) {
	l := e.parked("a", "a", "a", "b", "b")
	l.park(park(l.at(0), store.ParkRetrying), park(l.at(1), store.ParkBlocked), park(l.at(2), store.ParkBlocked))
	e.pass(2 * time.Millisecond)
	l.park(park(l.at(3), store.ParkRetrying), park(l.at(4), store.ParkBlocked))
	l.due(store.Due{Followers: 5, Limit: 1}, 0)
	l.due(store.Due{Followers: 5, Limit: 2}, 0, 1)
	l.due(store.Due{Followers: 5, Limit: 3}, 0, 1, 2)
	l.due(store.Due{Followers: 5, Limit: 4}, 0, 1, 2, 3)
	l.due(store.Due{Followers: 5, Limit: 5}, 0, 1, 2, 3, 4)
	l.due(store.Due{Followers: 1, Limit: 4}, 0, 1, 3, 4)
}

func dueBytes(e *env) {
	l := e.parked()
	for range 4 {
		m := e.message("")
		m.Payload = e.noise(1000)
		l.msgs = append(l.msgs, e.publish(m)...)
	}
	l.more()
	for i := range 4 {
		l.park(park(l.at(i), store.ParkRetrying))
		e.pass(2 * time.Millisecond)
	}
	l.due(store.Due{Bytes: 1}, 0)
	l.due(store.Due{Bytes: 1000}, 0)
	l.due(store.Due{Bytes: 1500}, 0, 1) // a message weighs more than its payload, by little
	l.due(store.Due{Bytes: 3000}, 0, 1, 2)
	l.due(store.Due{Bytes: 1 << 20}, 0, 1, 2, 3)
}

func dueSlots(e *env) {
	leases, records := e.fourShards()
	for i, l := range leases {
		got, err := e.Store.Due(e.ctx, store.Due{Ref: ref, Slots: []store.Slots{l.Slots}, Limit: 10, Bytes: 1 << 20})
		e.check(err, "due")
		if len(got) != 1 || got[0].ID != records[i].ID {
			e.Errorf("in shard %d are %d messages due, not its own", i, len(got))
		}
	}
	two := []store.Slots{leases[3].Slots, leases[1].Slots}
	got, err := e.Store.Due(e.ctx, store.Due{Ref: ref, Slots: two, Limit: 10, Bytes: 1 << 20})
	e.check(err, "due")
	if len(got) != 2 {
		e.Errorf("in two shards are %d messages due, not 2", len(got))
	}
	e.settle(&leases[1], store.Settlement{Resolve: []store.Resolved{{Seq: records[1].Seq, Hash: records[1].Hash}}})
	res := e.turn(store.Turn{Read: []store.Request{{Ref: ref, Slots: []store.Slots{leases[1].Slots}}}})
	if res.NextDue >= 0 {
		e.Errorf("in a shard with nothing parked the next is due in %s; want a negative time", res.NextDue)
	}
}

func dueStrict(e *env) {
	e.open(2)
	leases := e.relay("r").take(ref)
	e.spread(60)
	all := e.pager().all()
	for i := range leases {
		parks := e.line(&leases[i], all)
		d := store.Due{Ref: ref, Slots: []store.Slots{leases[i].Slots}, Limit: 100, Bytes: 1 << 20, Followers: 2}
		for n := 0; n+3 <= len(parks); n++ {
			got, err := e.Store.Due(e.ctx, d)
			e.check(err, "due")
			if len(got) != 3 || got[0].Record.Seq != parks[n].Seq || got[1].Record.Seq != parks[n+1].Seq {
				e.Fatalf("in shard %d, of messages in one line, %d are due; want the first, number %d, and two followers", i, len(got), n)
			}
			v := e.settle(&leases[i], store.Settlement{Resolve: []store.Resolved{{Seq: parks[n].Seq, Hash: 1}}})
			if len(v.Cleared) > 0 {
				e.Fatalf("a line of %d messages is cleared after %d", len(parks), n+1)
			}
		}
	}
}

// line parks the records of a shard under one hash, as strict order does.
func (e *env) line(l *store.Lease, all []store.Record) (parks []store.Park) {
	e.Helper()
	for _, r := range all {
		if l.Contains(r.Slot) {
			p := park(r, store.ParkBlocked)
			p.Hash, p.Blocking = 1, true
			parks = append(parks, p)
		}
	}
	e.settle(l, store.Settlement{Park: parks})
	return parks
}
