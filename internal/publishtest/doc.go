// Package publishtest has what tests and benchmarks of destinations share: the messages
// that they send, and how they check the results and measure. It is for tests only.
package publishtest
