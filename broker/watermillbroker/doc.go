// Package watermillbroker joins Postbag and Watermill both ways.
//
// A [Destination] delivers a box through any Watermill publisher:
//
//	dest, err := watermillbroker.New(publisher, watermillbroker.Options{})
//
// A [Publisher] is a Watermill publisher that writes into a box, in the transaction
// of a sender, so that messages are sent if and only if it commits:
//
//	publisher := watermillbroker.NewPublisher(pub.Bind(tx), watermillbroker.PublisherOptions{})
//
// A message that went in by a Publisher comes out by a Destination with the UUID,
// the metadata and the payload that it had.
//
// Watermill's publishers give one answer for all messages of a call, and that is an
// error or none. So a Destination sends one message a call unless Options.Batch
// says otherwise, and an error leaves it Unknown whether the message was stored,
// unless Options.Classify, or a broker.Error in it, knows better.
package watermillbroker
