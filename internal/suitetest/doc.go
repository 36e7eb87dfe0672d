// Package suitetest has what the conformance suites of brokers and of sources share: a case's random
// numbers, waits that end, errors that keep secrets, and the check that Close leaves no
// goroutine behind. The cases, and what a fixture is, are in brokertest and sourcetest.
package suitetest
