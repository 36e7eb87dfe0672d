// Package survival is the list of what must be survived, each a test on real
// servers: PostgreSQL, NATS JetStream and relays, every one a process of its own.
//
// A test builds a world, lets writers commit through faults, and then compares two
// independent records: what the writers know to be committed, and what lies in
// the stream, read back message by message. Nothing that the product says of
// itself counts. Each test runs in a short form by default and in full with
// POSTBAG_FULL=1.
package survival
