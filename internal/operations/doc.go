// Package operations is what operators do to a store, apart from how they say it and how it is shown to them: choose
// messages, look at the choice, run a command over it in pieces with progress, pause it, cancel it, and say who did it and
// why. They look at the state of the store, at its messages, at kinds of errors, at blocked keys and at the audit log, erase
// messages, accept differences of the ledger, ask for shards, bring the schema up to date, and publish. The command line and the
// console call it.
//
// What is refused here is refused for both. An error that a face says in words of its own is told apart by errors.Is.
//
// It has no clock of its own and keeps nothing: all that it changes is in the store's tables, with a line in the audit log.
package operations
