// Package exit holds the exit codes of the command line, which are part of its
// contract, and the errors that carry one. An error without a code of its own
// gets one by what it is, such as a box that does not exist.
package exit
