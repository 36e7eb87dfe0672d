// Package simulation plays Postbag in one thread from one seed. What decides in a relay
// and the arithmetic of positions are the real ones (internal/core, internal/engine,
// internal/lane, store/sqlkit/snapshots); the store, the broker, their clocks and the network between
// are models that do what real ones do, and go wrong as real ones do. A generator
// picks the next event of all that could happen next, so that the same seed gives
// the same run, event by event.
//
//	stage       what all subscriptions of a run have in common: its clock, its chance
//	world       one run as a subscription sees it: what it draws for itself
//	replay      a subscription that ends, in a world of its own, over the same log
//	agenda      what may happen next
//	producers   transactions that write messages, of which some are rolled back
//	server      the store: shards, leases, the parking lot, commands, the ledger
//	log         its log, of a kind that has snapshots, or ranges, or one writer
//	relay       the process of a relay: it carries out what the core wants, as package relay does
//	destination the broker, or a handler and its marks
//	Faults      what may go wrong, kind by kind, and how often
//	trouble     what each fault does when it happens
//
// A run draws faults, lets them happen while messages are written, ends them, and
// then demands that everything is delivered within a bound, that nobody spins, and
// that the promises held: see docs/reliability.md. When one did not, Shrink cuts
// the run down to what a person can read.
//
// The command is proof/cmd/postbag-sim, and make sim.
package simulation
