// Package exit has the exit codes of the command line, which are part of its contract,
// and the errors that carry one. An error without a code gets one by its kind: a box that
// does not exist, for example.
package exit
