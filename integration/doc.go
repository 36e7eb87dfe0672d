// Package integration is the root of the module for tests that span several of the others. It is never published.
//
//   - houserules holds the architecture tests: import directions, sizes, package comments.
//   - cmd/natsd is the NATS server that tests run as a process of its own.
//   - cmd/testtable turns the output of "go test -json" into the closing table of "make test".
package integration
