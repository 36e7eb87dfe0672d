// Package watermillbroker connects Postbag and Watermill in both directions.
//
// A [Destination] delivers a box through any Watermill publisher:
//
//	dest, err := watermillbroker.New(publisher, watermillbroker.Options{})
//
// A [Publisher] is a Watermill publisher that writes into a box, in the transaction of a
// sender. The messages are sent if it commits, and only then:
//
//	publisher, err := watermillbroker.NewPublisher(pub.Bind(tx), watermillbroker.PublisherOptions{})
//
// A [Source] takes messages from any Watermill subscriber, for an inbox:
//
//	src, err := watermillbroker.OpenSource(ctx, subscriber, watermillbroker.SourceOptions{Topics: []string{"orders"}})
//
// A message that went in through a Publisher comes out of a Destination with the same
// UUID, metadata and payload.
//
// A Watermill publisher returns one answer for all messages of a call: an error or nil.
// So a Destination sends one message per call, unless you set Options.Batch. After an
// error it is Unknown whether the message was stored, unless Options.Classify or a
// broker.Error in it says more.
//
// Most subscribers give the next message of a topic only when the one before is acked. So a
// batch of a Source has one message of each topic, or as many as the subscriber gives.
package watermillbroker
