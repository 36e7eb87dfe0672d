// Package tested is an application with its tests. They check what it publishes without a
// database, deliver it in memory with failures, and write it to a real database in a
// file. docs/guides/tests.md says more.
package tested
