// Package sqlstore is what stores over database/sql do alike: mysqlstore and
// sqlitestore. Their tables have the same names, columns and indexes; what differs
// is how a message gets into the log, how a position says what was passed, how a
// transaction is begun and tried again, and the words of some statements.
//
// A store has three parts in it:
//
//   - [Dialect]: what the database has of its own, as data. The statements that are
//     the same everywhere stand in sql.go, once; those that differ are fields of
//     [Statements]. A statement with arguments in another order is not another
//     statement: all take theirs in the order that the field says.
//   - [Hooks]: how the store begins transactions, runs a query, tells the time and
//     finds a subscription. It retries there, as its database needs it.
//   - [Base]: the methods that need nothing else. A store embeds it.
//
// The rooms are the same as in the seam: beat.go and reshape.go (who owns what),
// operate.go (orders), declare.go (subscriptions), chain.go (which parked message of
// a key may be tried), due.go, list.go with listrow.go and show.go, overview.go,
// maintain.go with verify.go (the ledger against the log), reader.go (where
// subscriptions stand), row.go (how rows are scanned), tx.go (how statements run).
//
// What a store keeps to itself, since more than words differ: appending, reading,
// settling, promoting, deleting, and Check. Where one of these comes to be the same
// in both, it belongs here.
//
// Nothing here is tested alone: the conformance suite of package storetest is run
// by each store, on its database, and so is a test of the plan of every statement.
package sqlstore
