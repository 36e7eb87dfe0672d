// Package tested is an application's code and its tests: what it publishes is
// looked at without a database, delivered in memory with failures, and written to
// a real database in a file. docs/guides/tests.md says more.
package tested
