// Package brokertest holds a destination to the contract of package broker.
//
// An adapter's own test is a [Harness] and one call:
//
//	func TestConformance(t *testing.T) {
//		brokertest.Run(t, brokertest.Harness{
//			Open:     openOnRealBroker,
//			TooLarge: 2 << 20,
//			...
//		})
//	}
//
// The harness gives each case a destination with a place of its own at the real
// broker (a topic, a queue, a server that records) and a way to read back, by
// another road than the destination, what the broker really holds. That
// independent truth is what the suite compares every answer with: Accepted must
// mean stored, once and bit for bit; nothing else may be claimed.
//
// Messages that an encoder made (broker.Wire) are read back once more, as a
// stranger's consumer sees them ([Fixture.Wired]): the same headers, content type
// and payload, and no fact of ours beside them.
//
// Faults are the harness's to make: stop the broker ([Harness.Outage]), lose its
// answers ([Harness.Mute]), point the destination at nothing
// ([Harness.Misconfigured]), spoil a message ([Harness.Spoil]). A harness that
// cannot make one says why in [Harness.Lacks]; a fault that is neither made nor
// excused fails the suite.
//
// What a destination declares in [broker.Features] is asserted both ways: one
// that names a fence must store a repeated message once, one that names none
// must store it twice; a declared MaxBytes must be taken, and so on. What another
// subscription makes of the same message is no repeat: it is stored too, or it is
// not accepted.
//
// The suite proves itself in its own tests, on destinations that are wrong in one
// way each.
package brokertest
