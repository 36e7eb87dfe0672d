package storetest

import (
	"slices"

	"github.com/postbag/postbag/store"
)

// supersedeCases are about rejected messages that wait until a newer one of their key is delivered.
func supersedeCases() []scenario {
	return []scenario{
		{name: "Only what waits and is older is superseded", run: supersedeOlder},
		{name: "A superseded message is listed with what superseded it", run: supersedeListed},
		{name: "A settlement supersedes what it parks", run: supersedeAtOnce},
		{name: "A repeated settlement supersedes nothing again", run: supersedeRepeat},
		{name: "A settlement that names a key without a message tells what waits", run: supersedeAsk},
		{name: "Commands about a superseded message are closed", run: supersedeCommands},
		{name: "Blocked names the newest that waits of each key", run: supersedeBlocked},
		{name: "The ledger has superseded messages under a fate of their own", run: supersedeLedger},
		{name: "A settlement supersedes a bounded number, and is made again for the rest", run: supersedeMany},
		{name: "A settlement of which parts are left does not keep others of its turn back", run: supersedeBeside},
		{name: "What a settlement writes itself does not end in a part of it", run: supersedeManyWritten},
	}
}

// newer names the key of a message that was delivered.
func (l *lot) newer(i int) store.Superseding {
	return store.Superseding{Hash: l.at(i).Hash, Seq: l.at(i).Seq, ID: l.at(i).ID}
}

// waits returns what waits of the key of a message.
func (l *lot) waits(i int) store.Waiting {
	return store.Waiting{Hash: l.at(i).Hash, Seq: l.at(i).Seq}
}

// told fails the case unless a verdict says so.
func (l *lot) told(v store.Verdict, superseded int64, want ...store.Waiting) {
	l.Helper()
	if v.Superseded != superseded || !slices.Equal(v.Waiting, want) {
		l.Errorf("the verdict says that %d are superseded and that %v waits; want %d and %v", v.Superseded, v.Waiting, superseded, want)
	}
}

func supersedeOlder(e *env) {
	l := e.parked("a", "a", "a", "a", "a", "b", "a")
	l.park(
		loose(park(l.at(0), store.ParkRetrying)), loose(park(l.at(1), store.ParkDead)), park(l.at(2), store.ParkRetrying),
		loose(park(l.at(3), store.ParkRetrying)), loose(park(l.at(5), store.ParkRetrying)), loose(park(l.at(6), store.ParkRetrying)),
	)
	l.told(l.settle(store.Settlement{Supersede: []store.Superseding{l.newer(4)}}), 2, l.waits(6))
	l.due(store.Due{}, 2, 5, 6)
	if got := l.blocked(); !slices.Equal(got, l.hashes(2)) {
		e.Errorf("blocked are %v, not %v", got, l.hashes(2))
	}
}

func supersedeListed(e *env) {
	e.inspector()
	l := e.parked("a", "a", "a")
	l.park(loose(park(l.at(0), store.ParkRetrying)), loose(park(l.at(1), store.ParkDead)))
	l.settle(store.Settlement{Supersede: []store.Superseding{l.newer(2)}})
	it := e.shown(l.msgs[0].ID)[0]
	want := store.SupersededReason(l.at(2).Seq, l.at(2).ID)
	if it.State != store.StateSuperseded || it.Reason != want || it.Attempts != 1 {
		e.Errorf("it is shown as %q after %d attempts with reason %q; want superseded after 1 with %q", it.State, it.Attempts, it.Reason, want)
	}
	if n := len(it.History); n != 2 || it.History[0].Reason != "refused" || it.History[1].State != store.ParkSuperseded || it.History[1].Reason != want {
		e.Errorf("its history is %+v; want the rejection, and then what superseded it", it.History)
	}
	l.listed("superseded", store.Query{State: store.StateSuperseded}, 0)
	l.listed("dead", store.Query{State: store.StateDead}, 1)
	l.listed("delivered", store.Query{State: store.StateDelivered}, 2)
}

func supersedeAtOnce(e *env) {
	l := e.parked("a", "a")
	v := l.settle(store.Settlement{To: l.next, Park: []store.Park{loose(park(l.at(0), store.ParkRetrying))}, Supersede: []store.Superseding{l.newer(1)}})
	l.told(v, 1)
	l.due(store.Due{}) // nothing
}

func supersedeRepeat(e *env) {
	l := e.parked("a", "a", "a")
	l.park(loose(park(l.at(0), store.ParkRetrying)), loose(park(l.at(2), store.ParkRetrying)))
	st := store.Settlement{Lease: l.lease, Supersede: []store.Superseding{l.newer(1)}}
	for _, want := range []int64{1, 0} {
		v := e.turn(store.Turn{Settle: []store.Settlement{st}}).Verdicts[0]
		if !v.Applied {
			e.Fatal("a settlement, or its repeat, is lost")
		}
		l.told(v, want, l.waits(2))
	}
	l.lease.Version++
	e.inspector()
	if n := e.overlooked().Superseded; n != 1 {
		e.Errorf("the overview counts %d superseded messages, not 1", n)
	}
}

func supersedeAsk(e *env) {
	l := e.parked("a", "a", "a", "b")
	l.park(loose(park(l.at(0), store.ParkRetrying)), loose(park(l.at(1), store.ParkRetrying)), loose(park(l.at(2), store.ParkDead)))
	v := l.settle(store.Settlement{Supersede: []store.Superseding{{Hash: l.at(0).Hash}, {Hash: l.at(3).Hash}}})
	l.told(v, 0, l.waits(1))
	l.due(store.Due{}, 0, 1)
}

func supersedeCommands(e *env) {
	e.operator()
	l := e.parked("a", "a", "b")
	l.park(loose(park(l.at(0), store.ParkRetrying)), loose(park(l.at(2), store.ParkRetrying)))
	l.order(store.Discard, 0, 2)
	l.settle(store.Settlement{Supersede: []store.Superseding{l.newer(1)}})
	if got := l.waiting(); len(got) != 1 || got[0].Park.Seq != l.at(2).Seq {
		e.Errorf("waiting are %+v, not the command about the message that is parked yet", got)
	}
}

func supersedeBlocked(e *env) {
	l := e.parked("a", "b", "a", "b", "c", "", "d")
	l.park(
		loose(park(l.at(0), store.ParkRetrying)), loose(park(l.at(1), store.ParkRetrying)), loose(park(l.at(2), store.ParkRetrying)),
		loose(park(l.at(3), store.ParkDead)), park(l.at(4), store.ParkRetrying), park(l.at(5), store.ParkRetrying), loose(park(l.at(6), store.ParkDead)),
	)
	got, err := l.s.Blocked(l.ctx, l.lease)
	l.check(err, "blocked keys")
	byHash := func(a, b store.Waiting) int {
		if a.Hash < b.Hash {
			return -1
		}
		return 1
	}
	slices.SortFunc(got.Waiting, byHash)
	want := []store.Waiting{l.waits(2), l.waits(1)}
	slices.SortFunc(want, byHash)
	if !slices.Equal(got.Waiting, want) {
		e.Errorf("waiting are %v, not %v", got.Waiting, want)
	}
	if !slices.Equal(l.blocked(), l.hashes(4)) {
		e.Errorf("blocked are %v, not %v", l.blocked(), l.hashes(4))
	}
}

func supersedeLedger(e *env) {
	h := e.history(1)
	var st store.Settlement
	var failed, others []store.Record
	for _, r := range h.records {
		if len(failed) == 4 || r.Hash == 0 {
			others = append(others, r)
			continue
		}
		failed = append(failed, r)
		st.Park = append(st.Park, loose(park(r, store.ParkRetrying)))
	}
	st.Tally = append(tally(store.TallyParked, failed...), tally(store.TallyDelivered, others...)...)
	h.settleAll(st)
	last := h.records[len(h.records)-1]
	var end store.Settlement
	for _, r := range failed {
		k := store.Superseding{Hash: r.Hash, Seq: last.Seq + 1, ID: last.ID}
		if !slices.ContainsFunc(end.Supersede, func(o store.Superseding) bool { return o.Hash == k.Hash }) {
			end.Supersede = append(end.Supersede, k)
		}
	}
	if v := e.settle(&h.leases[0], end); v.Superseded != 4 {
		e.Errorf("%d messages are superseded, not 4", v.Superseded)
	}
	h.dropped()
}

// manyWait parks more messages of a key than a settlement supersedes. Two newer ones are read and not parked.
func manyWait(e *env) *lot {
	keys := make([]string, store.MostSuperseded+502)
	for i := range keys {
		keys[i] = "a"
	}
	l := e.parked()
	for _, key := range keys {
		l.msgs = append(l.msgs, l.message(key))
	}
	l.publish(l.msgs...)
	l.more()
	var rows []store.Park
	for i := range len(keys) - 2 {
		rows = append(rows, loose(park(l.at(i), store.ParkRetrying)))
	}
	l.settle(store.Settlement{Park: rows})
	return l
}

// part makes a settlement that supersedes, and returns the verdict.
func (l *lot) part(st store.Settlement) store.Verdict {
	l.Helper()
	st.Lease = l.lease
	return l.turn(store.Turn{Settle: []store.Settlement{st}}).Verdicts[0]
}

func supersedeMany(e *env) {
	l := manyWait(e)
	n := len(l.records)
	last := l.at(n - 2)
	st := store.Settlement{To: l.next, Supersede: []store.Superseding{l.newer(n - 2)}, Tally: tally(store.TallyDelivered, l.records[n-2:]...)}
	was := e.positions(ref)[0]
	v := l.part(st)
	if v.Applied || !v.More || v.Superseded != store.MostSuperseded {
		e.Fatalf("the first verdict is %+v; want %d superseded, and more", v, store.MostSuperseded)
	}
	if e.positions(ref)[0] != was {
		e.Errorf("the position has passed message %d although older ones wait that it ends", last.Seq)
	}
	got, err := l.s.Blocked(l.ctx, l.lease)
	l.check(err, "blocked keys")
	if want := []store.Waiting{l.waits(n - 3)}; !slices.Equal(got.Waiting, want) {
		e.Errorf("between the parts %v waits, not %v", got.Waiting, want)
	}
	for range 2 { // and once more, as if the answer was lost
		v = l.part(st)
		if !v.Applied || v.More || len(v.Waiting) > 0 {
			e.Fatalf("the next verdict is %+v; want it applied, and nothing that waits", v)
		}
	}
	l.lease.Version++
	if e.positions(ref)[0] == was {
		e.Error("the position has not moved with the last part")
	}
	e.inspector()
	if got := e.overlooked().Superseded; got != int64(n-2) {
		e.Errorf("the overview counts %d superseded messages, not %d", got, n-2)
	}
}

// supersedeBeside has a settlement of another subscription in the same turn, behind one of which parts are left.
func supersedeBeside(e *env) {
	l := manyWait(e)
	other := store.Ref{Box: box, Subscription: "other"}
	e.declareFirst(other)
	lease := e.relay("s", other).take(other)[0]
	e.settle(&lease, store.Settlement{Park: []store.Park{loose(park(l.at(0), store.ParkRetrying))}})
	big := store.Settlement{Lease: l.lease, Supersede: []store.Superseding{l.newer(len(l.records) - 2)}}
	small := store.Settlement{Lease: lease, Supersede: []store.Superseding{l.newer(1)}}
	got := e.turn(store.Turn{Settle: []store.Settlement{big, small}}).Verdicts
	if got[0].Applied || !got[0].More || got[0].Superseded == 0 {
		e.Errorf("the first verdict is %+v; want rows superseded, and more", got[0])
	}
	if !got[1].Applied || got[1].More || got[1].Superseded != 1 {
		e.Errorf("the settlement beside it has the verdict %+v; want it applied, and one row superseded", got[1])
	}
	if n := got[0].Superseded + got[1].Superseded; n > store.MostSuperseded {
		e.Errorf("a turn supersedes %d rows, more than %d", n, store.MostSuperseded)
	}
}

func supersedeManyWritten(e *env) {
	l := manyWait(e)
	n := len(l.records)
	dead := loose(park(l.at(0), store.ParkDead))
	st := store.Settlement{
		To: l.next, Supersede: []store.Superseding{l.newer(n - 2)}, Park: []store.Park{dead}, Resolve: []store.Resolved{l.resolved(1)},
	}
	superseded := int64(0)
	for {
		v := l.part(st)
		superseded += v.Superseded
		if v.Applied {
			break
		}
		if !v.More || v.Superseded == 0 {
			e.Fatalf("a verdict is %+v; want rows superseded, and more", v)
		}
	}
	l.lease.Version++
	if superseded != int64(n-4) {
		e.Errorf("%d are superseded, not %d", superseded, n-4)
	}
	e.inspector()
	l.listed("dead", store.Query{State: store.StateDead}, 0)
	if got := e.shown(l.at(1).ID)[0]; got.State != store.StateDelivered {
		e.Errorf("the message that was resolved is shown as %q, not as delivered", got.State)
	}
}
