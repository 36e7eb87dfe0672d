// Package rabbitbroker delivers to RabbitMQ: to quorum queues, classic queues and
// streams, over AMQP 0-9-1.
//
//	dest, err := rabbitbroker.Dial(ctx, "amqp://user:password@host:5672/vhost", rabbitbroker.Options{
//		Exchange: "events",
//	})
//
// A message is Accepted when the server has acknowledged this very message
// (publisher confirms) and has not returned it before: every message is mandatory
// and persistent, and one that no queue takes is Misconfigured although the server
// acknowledges it.
//
// # How it sends
//
// The messages of all calls go over a few channels of one connection, one behind
// the other without waiting; a key always goes over the same channel. One goroutine
// sends on a channel, a second one takes in the answers, for sending blocks while
// the server does not read. Answers are read from the client library's deferred
// confirmations, which hold for each message singly; its NotifyPublish is not used,
// for there an acknowledgement of several covers a refusal in between.
//
// The server may refuse one message of a row (a queue that is full) and take the
// next. So the destination does not declare itself ordered: the relay has one
// message of a key under way at a time, and many keys.
//
// # What ends a channel
//
// For one bad message the server ends its whole channel, and leaves open what became
// of the others. So what can be known before is checked before: lengths of names,
// keys and headers, the size of headers, the size of the payload. The first message
// to an exchange, and one larger than any before it, is sent alone on its channel.
// What is in flight nevertheless when a channel ends is sent again on a new one, half
// as many at a time, until the culprit is alone and gets its verdict; the others may
// then be stored twice.
//
// # Connection
//
// Dial's connection is renewed for ever, each host in its turn, and the topology of
// Options declared again each time. Nothing is kept for later meanwhile: messages
// are Unavailable, also while the server blocks publishers for want of memory or
// disk (connection.blocked).
//
// # Headers
//
// The message's facts travel as Postbag-Id, Postbag-Key, Postbag-Type and
// Postbag-Time, and as the properties message-id, type and timestamp; names and
// values are those of the message, of any text. Names that the server would obey (CC,
// BCC) arrive with their first letter percent-encoded, and do nothing; [Message]
// undoes it for consumers in Go.
package rabbitbroker
