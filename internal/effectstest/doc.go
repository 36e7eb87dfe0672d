// Package effectstest runs the suite of destinations with transactions on handlers of pages (inbox.BatchDestination), over
// any store that keeps lanes, and has the databases of those stores fail under handlers. It is for tests only.
package effectstest
