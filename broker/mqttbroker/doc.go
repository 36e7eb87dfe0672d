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
// All messages of a call are written one behind the other, as many at a time as the
// broker's Receive Maximum allows; answers are matched to messages by their packet
// identifiers. The package uses the packets of paho.golang and not its client,
// which keeps what it could not send, and repeats it on the next connection behind
// what was sent meanwhile. Here nothing is repeated and nothing is kept: when a
// connection ends, what was not answered is Unknown, and the next call makes a new
// connection, with a clean start and no session.
//
// A broker may refuse one message for its quota and take the next. So the
// destination does not declare itself ordered: the relay has one message of a key
// under way at a time, and many keys.
//
// # What it checks first
//
// A message that the broker would answer by closing the connection is Rejected
// without being sent: a packet above its Maximum Packet Size, a topic with a
// wildcard, text that MQTT cannot carry. Should a broker still end the connection
// and blame a message for it, the next messages go one at a time, until the one is
// found and Rejected.
//
// # Headers
//
// The message's facts travel as user properties Postbag-Id, Postbag-Key,
// Postbag-Type and Postbag-Time, its headers under their own names. MQTT's text is
// UTF-8 without control characters: those, and '%', are percent-encoded. [Message]
// undoes it for consumers in Go.
package mqttbroker
