package storetest

import "github.com/postbag/postbag/store"

// listStrict: rows of strict order do not tell their keys.
func listStrict(e *env) {
	e.inspector()
	l := e.parked("a", "b", "a", "b")
	parks := []store.Park{park(l.at(0), store.ParkDead), park(l.at(1), store.ParkBlocked), park(l.at(2), store.ParkBlocked)}
	for i := range parks {
		parks[i].Hash = store.StrictHash
	}
	l.settle(store.Settlement{To: l.next, Park: append(parks, loose(park(l.at(3), store.ParkDead)))})
	l.listed("a key", store.Query{Key: "a", State: store.StateBlocked}, 2)
	l.listed("another", store.Query{Key: "b", State: store.StateBlocked}, 1)
	l.listed("the first", store.Query{Key: "a", State: store.StateDead}, 0)
	l.listed("one of each kind of row", store.Query{Key: "b"}, 3, 1)
}
