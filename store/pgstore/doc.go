// Package pgstore keeps boxes in PostgreSQL 14 and later.
//
// [Open] gives a store over a pgx pool: it is what a relay works on, and it
// publishes in transactions of pgx. [OpenAppender] publishes in transactions of
// database/sql, and of the libraries that build on it.
//
// Everything lies in the schema postbag: a partitioned table a box, its schedule,
// and tables whose names begin with an underscore for subscriptions, shards,
// relays, parked messages, the ledger, commands and the audit log. A plain INSERT
// into a box is a full publisher.
//
// A position is a snapshot, as in PgQ (M. Kreen, Skype, 2007), and not a number:
// numbers are given out before transactions commit, so a reader that remembers
// the last one loses what commits late. What lies between two snapshots is read
// by seq, above a bound that comes from the last settlement: see bounds.go and
// query/read.sql. Nothing waits for a transaction of a stranger, and no row of a
// box is ever written twice.
package pgstore
