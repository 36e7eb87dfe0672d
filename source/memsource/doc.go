// Package memsource is a broker in memory that messages are taken from: the smallest
// complete source, and the model to read before writing one.
//
// Use it in tests of what consumes messages. It is a queue, a log with partitions or a
// stream, as [Options] say. It has groups, and moves partitions when it is told to. It
// gives a message again after a release, a crash, a cut connection or an ack wait that ran
// out. It also fails on request:
//
//	b := memsource.New(memsource.Options{Order: source.OrderPartition, Partitions: 3})
//	s := b.Join("billing")
//	b.Publish(source.Message{Key: "customer-7", Payload: []byte("paid")})
//	...
//	b.Rebalance("billing")
//	err := b.WaitUntilAcked(ctx, "billing")
//
// It holds a bounded number of messages, and forgets those that every group has acked.
package memsource
