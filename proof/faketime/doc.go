// Package faketime runs the real relay, with the memory store and the memory broker,
// in a bubble of testing/synctest: minutes of leases, outages and back-off pass in
// milliseconds, and thousands of runs fit into some minutes.
//
// The simulator decides every event itself and replays a run from its seed, but it
// runs only the core. Here goroutines, contexts and timers are the relay's own. A
// seed draws the same world and the same plan of faults again; how goroutines interleave
// is not drawn, so a run that failed may need some tries to fail again.
//
//	world     one run: the store, the boxes, the subscriptions (line), and what the history records of them
//	process   what one relay sees of the store; it can be killed, and cut off and joined again
//	wire      what it sees of a broker, transactions among it
//	runner    a relay at work: how it begins, ends, is killed, drains, and must give up
//	producer  transactions that write messages, of which some are rolled back, prepared, scheduled or hard to read
//	trouble   what goes wrong: rooms of faults, side by side
//	operator  changes of shards, retries and discards
//	judge     what must be so at the end
//
// A run publishes and breaks things, ends all faults, and then demands that everything is delivered, that shards, conditions
// and relays are as they should be, that ledgers agree, that no call, lane or goroutine is left when a relay has ended, and that
// the history checker finds every promise held. Some runs end with a drain. A part of it is in make test; POSTBAG_FULL=1 makes
// it long. The program postbag-faketime plays as many seeds as you like.
package faketime
