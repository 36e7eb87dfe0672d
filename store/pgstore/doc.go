// Package pgstore keeps boxes in PostgreSQL 14 and later.
//
// [Open] returns a store over a pgx pool. A relay works on it, and you publish through it
// in transactions of pgx. [OpenAppender] publishes in transactions of database/sql, and
// of the libraries that build on it.
//
// Everything is in the schema postbag. Each box has a partitioned table and a schedule.
// Tables whose names begin with an underscore hold subscriptions, shards, relays, parked
// messages, the ledger, commands and the audit log. You can publish with a plain INSERT
// into a box.
//
// A position is a snapshot, as in PgQ (M. Kreen, Skype, 2007), and not a number. The
// database gives out numbers before transactions commit, so a reader that remembers the
// last number loses what commits late. What lies between two snapshots is read by seq,
// above a bound that comes from the last settlement: see bounds.go and query/read.sql.
// Nothing waits for transactions of other programs. No row of a box is updated, unless an
// operator erases a message.
package pgstore
