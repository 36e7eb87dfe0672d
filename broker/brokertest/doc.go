// Package brokertest tests a destination against the contract of package broker.
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
// The harness gives each case a destination with a place of its own at the real broker: a
// topic, a queue, a server that records. It also gives a way to read what the broker
// really holds, without the destination. The suite compares every answer with that:
// Accepted must mean stored, once and bit for bit, and nothing else may be reported.
//
// Messages that an encoder made (broker.Wire) are read once more, as a consumer of
// another project sees them ([Fixture.Wired]): the same headers, content type and
// payload, and no header of Postbag's beside them.
//
// The harness makes the faults: it stops the broker ([Harness.Outage]), loses its answers
// ([Harness.Mute]), points the destination at nothing ([Harness.Misconfigured]), spoils a
// message ([Harness.Spoil]). If it cannot make one, it says why in [Harness.Lacks]. A
// fault that is neither made nor excused fails the suite.
//
// The suite tests what a destination declares in [broker.Features] in both directions.
// One that names a fence must store a repeated message once; one that names none must
// store it twice. It must take a message of the declared MaxBytes, and so on. If another
// subscription sends the same message, that is no repeat: it must be stored too, or not
// accepted.
//
// The suite has tests of its own: it runs on destinations with one fault each, and must
// find it.
package brokertest
