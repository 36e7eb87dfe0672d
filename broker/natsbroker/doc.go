// Package natsbroker delivers to NATS JetStream.
//
//	js, err := jetstream.New(nc)
//	dest, err := natsbroker.New(js, natsbroker.Options{})     // over a connection of the application
//	dest, err := natsbroker.Dial(ctx, url, natsbroker.Options{}) // over one of its own
//
// A message goes to the subject that its topic names, always through JetStream:
// it is Accepted when the stream has acknowledged this very message, and never
// on less. New takes a jetstream.JetStream, not a *nats.Conn, because that is
// what knows the account's domain and API prefix; the connection is the one it
// was made with.
//
// # How it sends
//
// All messages of a call are sent one behind the other, without waiting, each
// with a reply subject of its own below one inbox of the destination; answers are
// matched to messages by it. The client library's own asynchronous publishing is
// not used: it repeats a message for which nobody was listening behind its
// successors, and it stalls and fails by rules of its own. Nothing is repeated
// here, and nothing is buffered while the connection is away.
//
// The order of answers does not follow the order of messages, and the server may
// refuse one message of a row and take the next. So the destination does not
// declare itself ordered: the relay has one message of a key under way at a time,
// and many keys.
//
// # What it checks first
//
// The stream of a subject is looked up once and remembered: a subject that no
// stream listens to is Misconfigured before anything is sent, even where an
// ordinary subscriber would swallow the message without an answer. The stream's
// name goes along as Nats-Expected-Stream, the message's id as Nats-Msg-Id, by
// which the stream drops repeats within its duplicate window. A message that is
// larger than the server's max_payload or the stream's max_msg_size is Rejected
// without being sent.
//
// # Repeats
//
// Nats-Msg-Id is made of the message's id, the box, the subscription and the subject:
// what differs in one of them is stored. The stream drops repeats of it within its
// duplicate window. Its word that it has a message is not enough: what it holds is
// read, and a message that is not there goes out again under another id.
//
// # Headers
//
// The message's facts travel as Postbag-Id, Postbag-Key, Postbag-Type and
// Postbag-Time. NATS headers are ASCII, so names and values are percent-encoded
// (broker.Escape); [Message] undoes it for consumers in Go. Headers of the
// message whose names the server or a client would obey, such as Nats-Rollup,
// are encoded too, and so carried without effect, unless Options.PassHeaders
// lets them through.
package natsbroker
