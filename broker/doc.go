// Package broker is the destination seam: what a relay needs of anything that
// takes messages.
//
// An adapter is one type that implements [Destination]. It holds a client of its
// broker, answers for each message singly, keeps no message after Publish has
// returned, and retries nothing: the relay above it knows order, attempts,
// back-off and time. An adapter that can tell cheaply whether its broker is
// there implements [Prober] too.
//
// The suite in broker/brokertest holds an adapter to this contract, on the real
// broker. broker/membroker is the smallest adapter and the model to read first.
package broker
