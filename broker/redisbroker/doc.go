// Package redisbroker delivers to Redis Streams.
//
//	dest, err := redisbroker.New(client, redisbroker.Options{})        // over a client of the application
//	dest, err := redisbroker.Dial(ctx, urls, redisbroker.Options{})    // over one of its own
//
// A message becomes an entry of the stream that its topic names. It is Accepted only when
// the server has answered with that entry's id.
//
// # How it sends
//
// The messages of a call go out in pipelines of 1,024 at most, one XADD each. The answers
// come in the same order. Nothing is repeated, whatever the client's MaxRetries says: the
// commands forbid it, because a pipeline that the client repeats is stored twice, and
// after newer entries. If a cluster refuses a command because its slot has moved, the
// command goes to the slot's new node. That cannot store it twice.
//
// A server may refuse one entry and take the next, if memory comes free in between. So
// the destination is not Ordered: the relay has one message of a key under way at a time,
// of many keys at once.
//
// # Entries
//
// The fields of an entry are, in this order: Postbag-Id, Postbag-Topic,
// Postbag-Key, Postbag-Type and Postbag-Time; the message's own headers under their
// own names, sorted; and the payload, in the field "payload". A header whose name
// is "payload", or begins with "Postbag-" or "header:", stands in a field with
// "header:" before its name. Redis carries any bytes, so nothing is encoded.
// [Message] gives a consumer in Go the message back.
//
// # Fencing
//
// With Options.Fence a key has a stream of its own, and the entry's id is made of the
// database's life and the message's seq. Redis refuses an id that is not above the last
// one of the stream. A refused message is Accepted only if the entry with that id is
// there and holds the same message. So repeats store nothing twice and nothing out of
// order, and neither does a relay that believes it still owns the shard. If a message
// commits after one of its key with a higher seq, it is stored after that one, if the
// server can say that the stream never held it.
//
// # As a source
//
// [OpenSource] takes messages in, as one consumer of a group. Members share single
// messages, so there is no order. Each message is acked for itself (XACK). One that is
// neither acked nor extended within the ack wait goes to the member that asks next
// (XAUTOCLAIM). What is released, or given back by Close, waits under the consumer
// "postbag-released" until a member takes it over.
package redisbroker
