// Package rabbitbroker delivers to RabbitMQ: to quorum queues, classic queues and
// streams, over AMQP 0-9-1. A [Source] takes messages in from quorum and classic queues, a
// [StreamSource] from streams.
//
//	dest, err := rabbitbroker.Dial(ctx, "amqp://user:password@host:5672/vhost", rabbitbroker.Options{
//		Exchange: "events",
//	})
//
// A message is Accepted when the server has acknowledged this very message (publisher
// confirms), and has not returned it before. Every message is mandatory and persistent.
// One that no queue takes is Misconfigured, although the server acknowledges it.
//
// # How it sends
//
// The messages of all calls go over a few channels of one connection, one after another,
// without waiting. A key always uses the same channel. One goroutine sends on a channel.
// A second one reads the answers, because sending blocks while the server does not read.
// The destination reads the client library's deferred confirmations, one for each
// message. It does not use NotifyPublish: there an acknowledgement of several messages
// hides a refusal in between.
//
// The server may refuse one message (a full queue) and take the next. So the destination
// is not Ordered: the relay has one message of a key under way at a time, of many keys at
// once.
//
// # What ends a channel
//
// Because of one bad message the server ends the whole channel, and does not say what
// became of the others. So the destination checks first what it can know: lengths of
// names, keys and headers, the size of headers, the size of the payload. It sends the
// first message to an exchange, and one larger than any before it, alone on its channel.
// If a channel still ends, it sends what was in flight again on a new one, half as many
// at a time, until the bad message is alone. The others may then be stored twice.
//
// # Connection
//
// Dial's connection is renewed for ever, trying each host in turn. The topology of
// Options is declared again each time. Nothing is kept for later meanwhile: messages are
// Unavailable. They are Unavailable too while the server blocks publishers because it
// lacks memory or disk (connection.blocked).
//
// # Headers
//
// Id, key, type and time are the headers Postbag-Id, Postbag-Key, Postbag-Type and
// Postbag-Time. The properties message-id, type and timestamp have them too. The
// message's own headers keep their names and values, of any text. Names that the server
// would obey (CC, BCC) arrive with their first letter percent-encoded, and do nothing.
// [Message] decodes them for consumers in Go.
//
// # As a source
//
// A source has a connection of its own. One channel of it has one consumer: an assignment
// of the queue. If either ends, the messages that are not acked go back to the queue, and
// the source begins again over a new connection. So a receipt is the number of the
// assignment and a delivery tag. Acks are written in the background. Several become one
// (multiple) if no message before them is open.
//
// With source.OrderStream the queue has a single active consumer. The source then never
// gives one message back, which could change the sequence: it ends its channel.
//
// The client library gives a connection up at headers that it cannot read. The server
// would send that message again to each new connection. So the source reads header frames
// first, and leaves out what the library cannot read.
//
// # As a source of a stream
//
// A stream keeps nothing of its readers. So a StreamSource keeps its position in a
// source.Positions, behind acks. One member of a group has the lock, which is the only
// consumer of a queue, and reads. The position has a fingerprint of a message. When the
// source connects it looks for that message: so it notices a stream that was made again, and
// messages that were removed before they were acked.
package rabbitbroker
