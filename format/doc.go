// Package format turns messages into forms that other programs read: CloudEvents 1.0, the
// form of Debezium's outbox event router, plain messages with header names of your own,
// or anything that a Go function makes.
//
// An encoder belongs to a subscription:
//
//	relay.Subscription{To: dest, Encoder: format.CloudEvents{Source: "/orders"}}
//
// or to a destination, for all its subscriptions:
//
//	dest = broker.Wrap(dest, format.Encode(format.Debezium{}))
//
// Without one a destination sends the plain form: the payload as it is, the message's id,
// key, type and time as Postbag-Id, Postbag-Key, Postbag-Type and Postbag-Time, and its
// headers beside them.
package format
