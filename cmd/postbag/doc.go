// Command postbag is the relay as a daemon, and the command line for people who
// look after one. Each command is a file; what kinds of stores and destinations
// there are stands in components.go and nowhere else.
package main
