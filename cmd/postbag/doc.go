// Command postbag is the relay as a daemon, and the command line for people who
// look after one. What kinds of stores and destinations there are stands in
// internal/component/kind.go and nowhere else.
package main
