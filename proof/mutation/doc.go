// Package mutation measures tests. It makes small changes all over some code, one at a
// time, and reports which of them no test notices. Such a change is in code that nobody
// tests, or in code that makes no difference.
//
// All changes are compiled into one program, each behind a number that an
// environment variable chooses, so that trying one costs a run of the tests and no
// build (mutant schemata: R. Untch, A. Offutt, M. Harrold, 1993). The changed files
// are an overlay of the go command; no file of the tree is changed.
//
// The changes: a comparison is moved by one, or turned round; && and || are
// exchanged; a ! is left out; a statement that is a call, an assignment, or a count up or
// down is left out.
package mutation
