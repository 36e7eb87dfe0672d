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
