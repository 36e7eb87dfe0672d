// Package proof is the root of the module that proves what the others promise. It is never published.
//
// README.md says which instrument finds which kind of fault, how long it takes, and when to run it. Beside the
// instruments, cmd/natsd is the NATS server that tests run as a process of its own, and cmd/testtable turns the
// output of "go test -json" into the closing table of "make test".
package proof
