// Package storetest holds a store to the contract of package store, on the real
// database. An adapter's test fills in a [Harness] and calls [Run]:
//
//	func TestConformance(t *testing.T) {
//		storetest.Run(t, storetest.Harness[*sql.Tx]{
//			Features: store.Features{Savepoints: true, OneGroup: true},
//			New: func(t testing.TB) *storetest.Database[*sql.Tx] { ... },
//		})
//	}
//
// Each case is a subtest with a sentence for a name and a database of its own;
// they run in parallel. A case that needs what the store does not declare is
// not run; that the store really lacks it is asserted by another.
//
// The idea of a harness and one call is go-cloud's (its drivertest packages),
// that of declared features asserted in both directions is Watermill's. That
// the suite catches what it should is itself tested, by running it on stores
// with deliberate wrongs.
package storetest
