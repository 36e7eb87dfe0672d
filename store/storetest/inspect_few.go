package storetest

import (
	"slices"
	"strconv"

	"github.com/postbag/postbag/store"
)

// listFew: what a store finds by a table or an index of its own is the same as what the log would show, on every page and both ways.
func listFew(e *env) {
	e.inspector()
	const n = 260
	keys := make([]string, n)
	for i := range keys {
		keys[i] = "k" + strconv.Itoa(i%130)
	}
	l := e.parked(keys...)
	reasons := map[int]string{3: "a Needle", 77: "needle 2", 131: "STRASSE", 200: "Straße", 259: "NEEDLE"}
	ps := make([]store.Park, n)
	for i := range ps {
		ps[i] = loose(park(l.at(i), store.ParkDead))
		if ps[i].Reason, ps[i].Attempts = "no", 1; reasons[i] != "" {
			ps[i].Reason = reasons[i]
		}
	}
	l.settle(store.Settlement{To: l.next, Park: ps})
	l.fewListed(store.StateDead)
	l.order(store.Discard, 3, 131)
	var done []store.Done
	for _, c := range l.waiting() {
		done = append(done, c.Done())
	}
	l.settle(store.Settlement{Resolve: []store.Resolved{l.resolved(3), l.resolved(131), l.resolved(77)}, Done: done})
	l.bothWays("discarded", store.Query{State: store.StateDiscarded}, 131, 3)
	l.bothWays("discarded with an error", store.Query{State: store.StateDiscarded, Error: "needle"}, 3)
	l.bothWays("delivered with an error", store.Query{State: store.StateDelivered, Error: "needle"}, 77)
	l.bothWays("dead with an error", store.Query{State: store.StateDead, Error: "needle"}, 259)
	l.fewListed("")
	l.bothWays("pending", store.Query{State: store.StatePending})
	l.bothWays("filtered", store.Query{State: store.StateFiltered})
	l.more("new")
	l.bothWays("pending behind all that is passed", store.Query{State: store.StatePending}, n)
}

// fewListed looks for the errors and keys of a few of many messages that are parked.
func (l *lot) fewListed(state store.State) {
	l.Helper()
	l.bothWays("an error", store.Query{State: state, Error: "needle"}, 259, 77, 3)
	l.bothWays("an error beyond ASCII", store.Query{State: state, Error: "straße"}, 200)
	l.bothWays("an error of small letters", store.Query{State: state, Error: "strasse"}, 131)
	l.bothWays("an error that none has", store.Query{State: state, Error: "nobody said so"})
	l.bothWays("a key", store.Query{State: state, Key: "k7"}, 137, 7)
	l.bothWays("a key with an error", store.Query{State: state, Key: "k129", Error: "needle"}, 259)
}

// bothWays fails the case unless a query finds just these messages: newest first, oldest first, and a page for each.
func (l *lot) bothWays(what string, q store.Query, want ...int) {
	l.Helper()
	l.listed(what, q, want...)
	q.Limit = 1
	l.listed(what+", one a page", q, want...)
	slices.Reverse(want)
	q.Oldest = true
	l.listed(what+", the oldest first", q, want...)
}

// fewHeaded: the filter asks for headers, of messages that a table or an index of its own tells of, too.
func fewHeaded(e *env) {
	e.inspector()
	e.operator()
	e.check(e.Create(e.ctx, box), "create the box")
	e.declare(specOf(ref, where(nil, nil, []string{"region=eu"}, store.Match{Headers: []string{"test"}})))
	r := e.relay("r")
	l := &lot{env: e, s: e.Store, r: r, lease: r.take(ref)[0]}
	l.msgs = e.messages(6, "a", "b", "c", "c", "d", "e")
	for i := range l.msgs {
		l.msgs[i].Headers = map[string]string{"region": "eu"}
	}
	l.msgs[5].Headers["region"] = "us"
	e.publish(l.msgs...)
	c := e.pager()
	l.records, l.next = c.expectTaken(len(l.msgs), l.msgs[:5]...), c.req.From
	slices.SortFunc(l.records, func(a, b store.Record) int { return int(a.Seq - b.Seq) })
	var ps []store.Park
	for i, state := range map[int]store.ParkState{0: store.ParkDead, 1: store.ParkDead, 2: store.ParkRetrying, 4: store.ParkDead} {
		p := loose(park(l.at(i), state))
		p.Reason, p.Attempts = "a needle", 1
		ps = append(ps, p)
	}
	l.settle(store.Settlement{To: l.next, Park: ps, Supersede: []store.Superseding{l.newer(3)}})
	l.order(store.Discard, 0)
	l.settle(store.Settlement{Resolve: []store.Resolved{l.resolved(0), l.resolved(1)}, Done: []store.Done{l.waiting()[0].Done()}})
	l.bothWays("discarded", store.Query{State: store.StateDiscarded}, 0)
	l.bothWays("discarded with an error", store.Query{State: store.StateDiscarded, Error: "needle"}, 0)
	l.bothWays("superseded", store.Query{State: store.StateSuperseded}, 2)
	l.bothWays("delivered with an error", store.Query{State: store.StateDelivered, Error: "needle"}, 1)
	l.bothWays("dead with an error", store.Query{State: store.StateDead, Error: "needle"}, 4)
	for i, it := range l.listed("an error", store.Query{Error: "needle"}, 4, 1, 0) {
		if want := []store.State{store.StateDead, store.StateDelivered, store.StateDiscarded}[i]; it.State != want {
			e.Errorf("listed by its error a message is %s, not %s", it.State, want)
		}
	}
	s, ok := e.Store.(store.Steward)
	if !ok {
		return
	}
	e.check(s.SetFilter(e.ctx, why, ref, where(nil, nil, nil, store.Match{Headers: []string{"region=eu"}})), "set the filter")
	l.bothWays("discarded, and excepted since", store.Query{State: store.StateDiscarded})
	l.bothWays("excepted, with an error", store.Query{State: store.StateFiltered, Error: "needle"}, 1, 0)
}
