// Package lane is the protocol of exactly once, without its I/O: what the record of a
// lane holds and what follows from it, how a relay enters a lane, the steps of a
// transaction, and what a relay remembers of a subscription's lane.
// docs/design/030-exactly-once.md describes the protocol and why it is right.
//
// An Acquisition and a Transaction say step by step what to do, and are told the result. A
// Lifecycle decides when to enter a lane and when to drop it. Package relay does the steps
// on a real store and a real broker, the simulator on models of both. Nothing here is
// safe for concurrent use.
package lane
