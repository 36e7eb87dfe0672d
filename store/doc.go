// Package store is the store seam: what a relay needs of a database that holds
// boxes of messages.
//
// A box is an append-only log. Each message has a seq, given out before its
// transaction commits, and a slot, a fixed slice of the box that its key
// decides. A subscription reads a box through shards, ranges of slots, each with
// a position of its own. The messages of a shard that could not be delivered
// when their turn came are parked: rows of their own that refer to the log.
// A relay works the shards that it holds a lease on, and everything it writes
// about a shard is one [Settlement] under that lease.
//
// [Store] has seven methods; their comments are the contract. Its heart is
// [Store.Turn]: settle what was delivered and read what is next, in one round
// trip. What listings and operators need is apart, in [Inspector] and
// [Operator]; what applications need is [postbag.Appender].
//
// The suite in store/storetest holds a store to this contract, on the real
// database. store/memstore is the reference.
package store
