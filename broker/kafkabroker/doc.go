// Package kafkabroker delivers to Apache Kafka, and takes messages in from it.
//
//	dest, err := kafkabroker.Dial(ctx, "kafka-1:9092,kafka-2:9092", kafkabroker.Options{})
//
// A message becomes a record of the Kafka topic that its topic names: key, headers,
// the payload as value, and the time when the database stored it as timestamp. It
// is Accepted when all in-sync replicas of its partition have it (acks=all) and the
// broker has confirmed this very record.
//
// # How it sends
//
// The destination holds a few idempotent producers (franz-go). Each call has one to
// itself, and sends in rounds. A round has at most one batch for each partition, and the
// next begins when all of it is answered. Kafka stores a batch whole or not at all, so no
// message of a key can overtake one that was refused. So the destination is Ordered, with
// thousands of messages of one key under way at a time. Several calls at a time keep the
// broker busy.
//
// If the network or a change of leaders leaves something unanswered, a producer repeats
// it by itself, without duplicates, as long as the call's context lasts. When the context
// ends, the destination gives up the producer with what it holds, and its messages are
// Unknown.
//
// If the broker refuses a batch, nobody knows which record was the reason: it refuses the
// good ones too. The destination sends its records again one by one, in order.
//
// # What it checks first
//
// The destination looks up a topic once, and remembers it. A topic that does not exist is
// Misconfigured before anything is sent (or created, see Options.Create). A message above
// the topic's max.message.bytes is Rejected, and so is one without a key for a compacted
// topic. The destination also asks first whether brokers can be reached and take the
// login, because a Kafka client hides such failures and retries for ever.
//
// # Partitions
//
// A key's partition is that of the Java client's default partitioner: murmur2 of the
// key's bytes, modulo the number of partitions. It does not depend on the client
// library's default. Messages without a key are spread.
//
// # As a source
//
// [OpenSource] makes a member of a consumer group, for an inbox. The group shares
// partitions cooperatively. Of each the source commits the position up to which all is
// acked, and never one of an assignment that is over. One goroutine polls the client into
// bounded queues, which Fetch takes from; another commits; a third asks the brokers what is
// wrong. Messages that were deleted before they were read are an error, and not a jump.
package kafkabroker
