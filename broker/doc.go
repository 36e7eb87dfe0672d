// Package broker defines what a relay needs of a destination: a message broker, a
// webhook, or anything else that takes messages. Adapters implement it, such as
// kafkabroker and natsbroker.
//
// An adapter is one type that implements [Destination]. It holds a client of its broker,
// and gives an answer for each message. It keeps no message after Publish has returned,
// and retries nothing: the relay takes care of order, attempts, back-off and time. If an
// adapter can cheaply tell whether its broker is there, it implements [Prober] too. If it
// has transactions, it implements [Transactional].
//
// To do something with messages on their way (encode, count, trace), put [Middleware]
// before an adapter. It is a destination too, usually with a Publish of its own. [Wrap]
// puts it there, and keeps what the adapter can do:
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
// The suite in broker/brokertest tests an adapter against this contract, on the real
// broker. broker/membroker is the smallest adapter: read it first.
package broker
