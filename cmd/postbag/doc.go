// Command postbag is the relay as a daemon, and the command line for its operators. The
// kinds of stores and destinations are listed in internal/component/kind.go and nowhere
// else.
package main
