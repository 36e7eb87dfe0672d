// Package engine decides: what to send next, what an outcome does to a message,
// what to settle, what to read, who owns which shard. It is pure: no clock, no
// goroutine, no I/O. It takes and gives the values of the root package and of the two
// seams, packages store and broker, and calls no method that does anything. Time is a
// duration that the caller passes in and that never goes back; chance is a function in
// [Config].
//
// A [Flow] is one subscription on one relay. Its caller, the goroutine shell in
// package relay or a simulator, tells it what happened and asks it what to do:
//
//	Add, Lost       a shard was leased, its position and blocked keys loaded; or lost
//	Turn            what to settle and read now, if a turn is worth making
//	Landed, Absorb  a turn came back: verdicts, then the batches read
//	NextDue         the rest of its answer: when a parked message is due
//	Commands        and what operators want done
//	Next            the next call to the destination, if one may be made
//	Reported        one message of a call was answered
//	Answered        a call came back, an outcome a message
//	Check, Trial    how to find out whether a destination works again
//	Due, DueLanded  parked messages that can be tried
//	Slow            parks messages whose answers are late
//	Leave, Left     shards to give back, and those that are ready for it
//	Quiesce, Quiet  brings all shards to one position, for a reshape
//	Wake            when to ask again if nothing happens before
//
// [Plan] says which shards a relay takes and gives, so that all have their share.
//
// The protocol in short (docs/concepts.md has it in full):
//
//   - Shards at one position form a group, read as one. A group's window holds what
//     was read and is not settled; the longest resolved prefix of it moves the
//     position of all its shards. Groups that stand apart meet and are joined.
//   - Messages of one key form a chain. Only the head of a chain is sent, and the
//     next one only after a positive answer for it; a destination that is Ordered
//     gets several of a key in one call, and no second call meanwhile.
//   - A message that was rejected, or whose answer is late, is parked: it rides
//     in the settlement that passes it. Under OnReject Block its chain is blocked:
//     what is read of its key is parked behind it, and it is served from the
//     parking lot alone until a settlement's verdict says that nothing is left.
//   - Nothing but a rejection counts an attempt; at the last one, reject says that
//     the message is dead. An outage opens the circuit.
//   - What was sent, and not answered or not settled, is at most InFlight. What is sent in
//     any time is at most what Rate allows.
//
// Leases bound duplicates, they do not make order: order comes from sending a
// message only after the one before it is known to be in the broker.
//
// The tests have a file a noun, in which a flow is played by hand. Package
// proof/simulation plays whole flows, in which whatever can go wrong does, at
// random, and checks the promises.
package engine
