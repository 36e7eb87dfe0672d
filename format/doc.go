// Package format turns messages into forms that others read: CloudEvents 1.0, the
// form of Debezium's outbox event router, plain messages under header names of
// one's own, or whatever a Go function makes.
//
// An encoder belongs to a subscription:
//
//	relay.Subscription{To: dest, Encoder: format.CloudEvents{Source: "/orders"}}
//
// or to a destination, wherever that is used:
//
//	dest = format.Encode(dest, format.Debezium{})
//
// Without one a destination sends the plain form: the payload as it is, the
// message's facts as Postbag-Id, Postbag-Key, Postbag-Type and Postbag-Time, its
// headers beside them.
package format
