// Package operations has what operators do with a store: choose messages, look at the choice, run a command over it in
// pieces with progress, pause it, cancel it, and say who did it and why. The command line and the web console both use it.
// They add the input and the output.
//
// The package has no clock of its own and keeps nothing. All that it changes is in the store's tables, with a line in the
// audit log.
package operations
