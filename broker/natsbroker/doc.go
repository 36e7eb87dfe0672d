// Package natsbroker delivers to NATS JetStream, and takes messages from it.
//
//	js, err := jetstream.New(nc)
//	dest, err := natsbroker.New(js, natsbroker.Options{})     // over a connection of the application
//	dest, err := natsbroker.Dial(ctx, url, natsbroker.Options{}) // over one of its own
//	src, err := natsbroker.OpenSource(ctx, natsbroker.SourceOptions{URL: url, Stream: "ORDERS", Consumer: "billing"})
//
// A message goes to the subject that its topic names, always through JetStream. It is
// Accepted only when the stream has acknowledged this message. New takes a
// jetstream.JetStream, not a *nats.Conn, because that knows the account's domain and API
// prefix. It uses the connection that the JetStream was made with.
//
// # How it sends
//
// The destination sends all messages of a call one after another, without waiting. Each
// has a reply subject of its own below one inbox, which matches answers to messages. It
// does not use the client library's asynchronous publishing: that repeats a message to
// which nobody listened after later ones, and stalls and fails by rules of its own. The
// destination repeats nothing, and buffers nothing while the connection is lost.
//
// Answers may come in another order than messages, and the server may refuse one message
// and take the next. So the destination is not Ordered: the relay has one message of a
// key under way at a time, of many keys at once.
//
// # What it checks first
//
// The destination looks up the stream of a subject once, and remembers it. A subject that
// no stream listens to is Misconfigured before anything is sent, even if an ordinary
// subscriber would take the message without an answer. The header Nats-Expected-Stream
// has the stream's name. A message that is larger than the server's max_payload or the
// stream's max_msg_size is Rejected without being sent.
//
// # Repeats
//
// Nats-Msg-Id is made of the message's id, the box, the subscription and the subject. If
// one of them differs, the message is stored. The stream drops repeats of it within its
// duplicate window. The destination then reads what the stream holds. If the message is
// not there, it goes out again with another Nats-Msg-Id.
//
// # Headers
//
// Id, key, type and time are the headers Postbag-Id, Postbag-Key, Postbag-Type and
// Postbag-Time. NATS headers are ASCII, so names and values are percent-encoded
// (broker.Escape). [Message] decodes them for consumers in Go. Headers of the message
// that the server or a client would obey, such as Nats-Rollup, are encoded too and have
// no effect, unless Options.PassHeaders names them.
//
// # Taking messages in
//
// OpenSource takes messages from a stream, as one member of a durable pull consumer. It
// asks for as much as one Fetch wants, keeps nothing that it was not asked for, and acks
// each message with an answer of the server. With source.OrderStream the server pins one
// member, and each assignment begins at the consumer's ack floor. A message that does not
// follow the one before ends the assignment.
package natsbroker
