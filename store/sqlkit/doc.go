// Package sqlkit is what stores over database/sql do alike: mysqlstore and
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
//   - [Base]: the methods that need nothing else. A store calls them from methods of
//     its own, so that its documentation shows them.
//
// Files are named as in the stores: heartbeat.go and heartbeat_reshape.go (who owns what),
// operate.go with operate_command.go, operate_edit.go and operate_accept.go (what
// operators do), declare.go (subscriptions), turn_chain.go (which parked message of a
// key may be tried), parked.go, inspect_list.go with inspect_list_rows.go,
// inspect_show.go, inspect_overview.go, maintain.go with maintain_ledger.go (the ledger
// against the log) and maintain_reader.go (where subscriptions stand), turn_row.go (how rows
// are scanned), transaction.go (how statements run).
//
// What a store keeps to itself, since more than words differ: appending, reading,
// settling, promoting, deleting, and Check. Where one of these comes to be the same
// in both, it belongs here.
//
// It is public since a store may be a module of its own, and promises no
// compatibility: a version of the root module may change it. An older store need not
// build against it, and scripts/compat says, for each release, which of the last
// release's stores do.
//
// Nothing here is tested alone: the conformance suite of package storetest is run
// by each store, on its database, and so is a test of the plan of every statement.
package sqlkit
