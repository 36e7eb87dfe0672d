// Package redisbroker delivers to Redis Streams.
//
//	dest, err := redisbroker.New(client, redisbroker.Options{})        // over a client of the application
//	dest, err := redisbroker.Dial(ctx, urls, redisbroker.Options{})    // over one of its own
//
// A message becomes an entry of the stream that its topic names. It is Accepted
// when the server has answered with that entry's id, and never on less.
//
// # How it sends
//
// The messages of a call go out in pipelines of 1,024 at most: one XADD each, written one
// behind the other, then the answers in the same order. Nothing is repeated, whatever
// MaxRetries of the client says: the commands forbid it, for a pipeline that the
// client repeats is stored twice, and behind what came later. In a cluster a
// command that was refused because its slot has moved is followed to the slot's
// new node, which cannot store it twice.
//
// A server may refuse one entry and take the next, when memory comes free in
// between. So the destination does not declare itself ordered: the relay has one
// message of a key under way at a time, and many keys.
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
// With Options.Fence a key has a stream of its own, and the entry's id is made of
// the database's life and the message's seq. Redis refuses an id that is not above
// the last one of the stream. What was refused is Accepted only when the entry
// with that id is there and holds the same message; so a repeat, and a relay that
// believes it still owns the shard, store nothing twice and nothing out of order. A
// message whose transaction committed after that of a higher seq of its key is stored
// behind it, where the server can say that the stream never held it.
package redisbroker
