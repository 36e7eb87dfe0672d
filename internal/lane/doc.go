// Package lane is the protocol of exactly once, without its I/O: what the record of
// a lane holds and what may be concluded from one, the way into a lane, the course
// of a transaction, and what a relay keeps of the lane of a subscription.
// docs/design/030-exactly-once.md has the protocol and why it is right.
//
// An Entry and a Transaction say step by step what is to be done and are told what
// came of it; a Lifecycle decides when a lane is entered and when it is dropped. Package
// relay does the steps on a real store and a real broker, the simulator on models of
// both. Nothing here is safe for use by several goroutines at a time.
package lane
