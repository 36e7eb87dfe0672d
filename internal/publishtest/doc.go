// Package publishtest is what the tests and benchmarks of destinations send, how they
// look at what came of it, and how they measure. It is for tests only.
package publishtest
