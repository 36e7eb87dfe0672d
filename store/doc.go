// Package store defines what a relay needs of a database that holds boxes of messages.
// Stores implement it: pgstore, mysqlstore, sqlitestore, memstore, or your own.
//
// A box is an append-only log. Each message has a seq, which the database gives out
// before the transaction commits. It also has a slot: a fixed slice of the box, which the
// message's key decides. A subscription reads a box through shards. A shard is a range of
// slots with a position of its own. If a message of a shard could not be delivered when
// its turn came, it is parked: it gets a row of its own that refers to the log. A relay
// works the shards that it holds a lease on. Everything that it writes about a shard is
// one [Settlement] under that lease.
//
// [Store] has seven methods, and their comments are the contract. The most important one
// is [Store.Turn]: it settles what was delivered, and reads what is next, in one round
// trip. Other interfaces have what else is needed: [Inspector] for listings, [Operator]
// for commands, [postbag.Appender] for applications.
//
// The suite in store/storetest tests a store against this contract, on the real database.
// store/memstore is the reference.
package store
