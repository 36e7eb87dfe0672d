// Package sourcetest tests a source against the contract of package source.
//
// An adapter's own test is a [Harness] and one call:
//
//	func TestConformance(t *testing.T) {
//		sourcetest.Run(t, sourcetest.Harness{
//			Open:     openOnRealBroker,
//			Features: source.Features{Order: source.OrderPartition, Places: true, Cumulative: true},
//			...
//		})
//	}
//
// The harness gives each case a topic and a group of its own at the real broker: it sends
// messages there without the source, and makes members of the group ([Fixture]). It also
// makes the faults: it kills a member, has the group share its partitions again, stops the
// broker, sends what no client can decode. If it cannot make one, it says why in
// [Harness.Lacks]. A fault that is neither made nor excused fails the suite.
//
// The suite tests what a source declares in [source.Features] in both directions. Acks that
// are a position may give a message behind a gap again; single acks must not. A source with
// an order must keep it through a release, a crash and a rebalance.
//
// The suite has tests of its own: it runs on sources with one fault each, and must find it.
package sourcetest
