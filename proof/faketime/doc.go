// Package faketime runs the real relay, with the memory store and the memory broker,
// in a bubble of testing/synctest: minutes of leases, outages and back-off pass in
// milliseconds, and thousands of runs fit into a minute.
//
// The simulator decides every event itself and replays a run from its seed, but it
// runs only the engine. Here goroutines, contexts and timers are the relay's own. A
// seed draws the same plan of faults again; how goroutines interleave is not drawn,
// so a run that failed may need some tries to fail again.
//
//	world     one run: the store, the broker, and what the history records of them
//	process   what one relay sees of both; it can be killed, and cut off and joined again
//	producer  transactions that write messages, of which some are rolled back
//	trouble   the faults of a run
//
// A run publishes and breaks things, ends all faults, and then demands that
// everything is delivered and that the history checker finds every promise held. It
// is a part of make test; POSTBAG_FULL=1 makes it long.
package faketime
