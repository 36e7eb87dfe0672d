// Package broker is the destination seam: what a relay needs of anything that
// takes messages.
//
// An adapter is one type that implements [Destination]. It holds a client of its
// broker, answers for each message singly, keeps no message after Publish has
// returned, and retries nothing: the relay above it knows order, attempts,
// back-off and time. An adapter that can tell cheaply whether its broker is
// there implements [Prober] too, and one that has transactions [Transactional].
//
// What is to happen to messages on their way (encoding, counting, tracing) is
// [Middleware] before an adapter. It is a destination too, with one method of its
// own, mostly Publish; [Wrap] puts it there and keeps what the adapter can do:
//
//	type counted struct {
//		broker.Destination
//		n *atomic.Int64
//	}
//
//	func (c counted) Publish(ctx context.Context, msgs []broker.Delivery, report func(i int, r broker.Result)) {
//		c.n.Add(int64(len(msgs)))
//		c.Destination.Publish(ctx, msgs, report)
//	}
//
//	dest = broker.Wrap(dest, func(next broker.Destination) broker.Destination { return counted{next, &n} })
//
// The suite in broker/brokertest holds an adapter to this contract, on the real
// broker. broker/membroker is the smallest adapter and the model to read first.
package broker
