// Package effectstest runs the suite of destinations on handlers (inbox.Destination, inbox.BatchDestination), over any store
// that keeps lanes, and has the databases of those stores fail under handlers. It is for tests only.
package effectstest
