// Package survival has one test for each fault that Postbag must survive. The tests run on
// real servers: PostgreSQL, NATS JetStream and relays, every one a process of its own.
//
// A test builds a world and lets writers commit through faults. Then it compares two
// independent records: what the writers know to be committed, and what the stream holds,
// read back message by message. Nothing that the product says of itself counts. Each test
// runs in a short form by default and in full with POSTBAG_FULL=1.
package survival
