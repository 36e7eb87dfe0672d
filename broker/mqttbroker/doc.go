// Package mqttbroker delivers to brokers of MQTT 5.
//
//	dest, err := mqttbroker.Dial(ctx, "mqtt://broker:1883", mqttbroker.Options{})
//
// A message is published to the topic that its own topic names, with QoS 1 or 2,
// and is Accepted when the broker has acknowledged this very message: by PUBACK, or
// with QoS 2 by PUBCOMP.
//
// # How it sends
//
// All messages of a call are written one after another, as many at a time as the broker's
// Receive Maximum allows. Packet identifiers match answers to messages. The package uses
// the packets of paho.golang, but not its client: that keeps what it could not send, and
// repeats it on the next connection, after newer messages. Here nothing is repeated and
// nothing is kept. When a connection ends, unanswered messages are Unknown, and the next
// call makes a new connection, with a clean start and no session.
//
// A broker may refuse one message because of its quota and take the next. So the
// destination is not Ordered: the relay has one message of a key under way at a time, of
// many keys at once.
//
// # What it checks first
//
// A message is Rejected without being sent if the broker would close the connection
// because of it: a packet above its Maximum Packet Size, a topic with a wildcard, text
// that MQTT cannot carry. If a broker still ends the connection because of a message, the
// next messages go one at a time, until the bad one is found and Rejected.
//
// # Headers
//
// Id, key, type and time are the user properties Postbag-Id, Postbag-Key, Postbag-Type
// and Postbag-Time. The message's headers are user properties under their own names.
// MQTT's text is UTF-8 without control characters: those, and '%', are percent-encoded.
// [Message] decodes them for consumers in Go.
//
// # As a source
//
// A source has a session at the broker, under its client id, and one connection at a time. A
// connection is an assignment. What is not acked when it ends comes again over the next one,
// in sequence. If the broker lost the session meanwhile, messages are lost, and the source
// says so.
//
// It uses packets alone too. The library's client can ack by hand, and in the sequence of
// arrival (MQTT 5, 4.6), as this package does. But it ends the connection at a packet that it
// cannot decode, which the broker then sends again for ever. Here that is a message with an
// error. And a question behind acks (PINGREQ) shows that the broker has them. MQTT has no
// release: the source keeps packets until they are acked, and decodes them again.
package mqttbroker
