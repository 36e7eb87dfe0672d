// Package sqlkit is the code that the stores over database/sql share: mysqlstore and
// sqlitestore. Their tables have the same names, columns and indexes. The stores differ
// in how a message gets into the log, how a position says what was passed, how a
// transaction begins and is tried again, and the words of some statements.
//
// A store has three parts in it:
//
//   - [Dialect]: what differs by database, as data. Statements that are the same
//     everywhere are in sql.go, once. Those that differ are fields of [Statements]. The
//     comment of the field says in which sequence a statement takes its arguments, and
//     every store keeps to it.
//   - [Hooks]: how the store begins transactions, runs a query, tells the time and
//     finds a subscription. The store retries there, as its database needs it.
//   - [Base]: the methods that need nothing else. A store calls them from methods of
//     its own, so that its documentation shows them.
//
// Files are named as in the stores: heartbeat.go and heartbeat_reshape.go (who owns what),
// operate.go with operate_command.go, operate_edit.go and operate_accept.go (what
// operators do), declare.go (subscriptions), turn_chain.go (which parked message of a
// key may be tried), parked.go, inspect_list.go with inspect_list_rows.go,
// inspect_show.go, inspect_overview.go, maintain.go with maintain_ledger.go (the ledger
// against the log) and maintain_reader.go (where subscriptions stand), turn_row.go (how rows
// are scanned), inbox_forget.go (old marks), transaction.go (how
// statements run).
//
// A store has its own code where more than words differ: appending, reading, settling,
// promoting, deleting, and Check. If one of these becomes the same in both, it belongs
// here.
//
// The package is public because a store may be a module of its own. It promises no
// compatibility: any version of the root module may change it. An older store may not
// build with it. For each release scripts/compat says which of the last release's
// stores do.
//
// The package has no tests of its own. Each store runs the conformance suite of package
// storetest on its database, and a test of the plan of every statement.
package sqlkit
