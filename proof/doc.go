// Package proof is the root of the module that tests what the others promise. It is never published.
//
// README.md says which instrument finds which kind of fault, how long it takes, and when to run it. The module has two
// more commands: cmd/natsd is the NATS server that tests run as a process of its own, and cmd/testtable turns the output
// of "go test -json" into the table at the end of "make test".
package proof
