// Package storetest tests a store against the contract of package store, on the real
// database. An adapter's test fills in a [Harness] and calls [Run]:
//
//	func TestConformance(t *testing.T) {
//		storetest.Run(t, storetest.Harness[*sql.Tx]{
//			Features: store.Features{Savepoints: true, OneGroup: true},
//			New: func(t testing.TB) *storetest.Database[*sql.Tx] { ... },
//		})
//	}
//
// Each case is a subtest with a sentence as its name and a database of its own. Cases run
// in parallel. If a case needs a feature that the store does not declare, it does not
// run; another case checks that the store really lacks it.
//
// The idea of a harness and one call is go-cloud's (its drivertest packages). That of
// declared features, tested in both directions, is Watermill's. The suite has tests of
// its own: it runs on stores with deliberate faults, and must find them.
package storetest
