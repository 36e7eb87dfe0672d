// Package snapshots is the arithmetic of positions in a log whose database has
// snapshots, as PostgreSQL has: which rows a reader has passed, below which seq
// nothing new can appear, and how that is written down.
//
// It does no I/O. So pgstore uses it with a server, and the simulator
// (proof/simulation) with a model of one. docs/design/010-postgresql-rows.md
// and 011-postgresql-sequence.md give the reasons. The idea of reading what
// lies between two snapshots is PgQ's (Skype, 2007).
package snapshots
