// Package source defines what an inbox needs of a broker that it takes messages from. It
// is the twin of package broker, which sends. Adapters implement it.
//
// An adapter is one type that implements [Source]. It holds a client of its broker as one
// member of a group. It hands messages out when it is asked (Fetch), and forgets none
// before it is told so (Ack). It decides nothing about a message: what to do with one that
// fails, how many are at work, and in which sequence, is the consumer's business.
//
// # Words
//
// A group is all sources that a broker counts as one reader: a consumer group, a queue, a
// durable consumer, a shared subscription. Each message goes to one of them. The consumer
// is the code that calls a source: fetches, works, acks. A message is at work from the
// Fetch that returned it to its Ack or Release, or to the loss of its partition. A
// partition is the scope in which messages have an order. A source has it for a time, an
// assignment: from the first message of it that a Fetch returns to the Batch that names it
// in Lost. A partition can be lost and come back, even to the same source: that is another
// assignment.
//
// # What comes
//
// Every message of the source comes at least once to a member of the group. It comes
// again, to this source or to another, until an ack of it has reached the broker:
//
//   - after a member died, or lost its connection, everything that was at work there;
//   - after an ack that was lost on its way;
//   - after a rebalance, what was at work in partitions that moved, and what was acked too
//     late;
//   - after its ack wait ran out ([Features].AckWait), unless it was extended;
//   - after Release;
//   - if acks are a position, or go in sequence ([Features].Cumulative), also what was
//     acked behind a message that was not.
//
// After a Close that returned nil only the last two remain, and what was at work. A
// message that comes again has the same Place, headers, key and payload.
//
// # Order
//
// [Features].Order says whether there is one. If there is, then within one assignment the
// messages of a partition come in the broker's sequence, each once. The first is the
// earliest that is not acked, of those that the broker still has. So if a message comes
// again, its partition was named in Lost before it, and every message behind it that is
// not acked comes again too. That holds after a Release as well: it ends the assignment.
//
// It is the senders who put a key into a partition. If the number of partitions changes, a
// key can move to another one. What was sent before has no order then with what was sent
// after.
//
// Without an order messages come in any sequence, and one that comes again may come after
// all others. Lost may then name partitions too: their acks are lost.
//
// # What a consumer does
//
// It applies a message in a transaction that marks the message's id, and acks when that
// has committed, never before. So what comes again finds its mark, and is dropped. For
// messages of one key to be applied in the partition's order, it also keeps four rules:
//
//  1. It begins a message only when the one before it of its key, in this assignment, is
//     known to be committed, by itself or by somebody else.
//  2. When a partition is lost, it finishes the messages of it that are at work, or drops
//     them. If it drops one, it drops all behind it in that partition. Their acks count as
//     lost, and are no error.
//  3. When a partition comes back, it waits with its new messages until its own work on
//     the old ones is over. Otherwise two messages of a key are at work at once in one
//     process. What the older handler does outside of the transaction can then undo the
//     newer one's work. And the newer transaction waits for a mark that the older one
//     holds, perhaps with the last connection of a pool.
//  4. To give up a message that has an order, it acks it, with a record of its own that
//     it did. A message that is released takes all behind it along.
//
// Another process may still work on a partition that it lost and does not know it, a
// zombie: it was frozen, or cut off. It does no harm. Both it and the new owner began at a
// message before which all are committed, and both keep rule 1. So each message is
// committed after the one before, by one of the two, and the other finds the mark. The
// zombie's acks are of an assignment that is over, and change nothing.
//
// The mark is forgotten some day (store.Forgetter). A process that was frozen for longer
// applies a message again.
//
// # Brokers
//
// What the features come to with brokers, if an adapter is set up as their clients usually
// are. Place is what Place is made of. Count is where Deliveries comes from. A dash is
// none. The last two columns say what an ack is at the broker, and what comes again,
// besides what was at work when a member died.
//
//	broker              order                    place              count            ack                 again
//	Kafka               partition                topic id, offset   -                position            behind the position, after any rebalance
//	RabbitMQ classic    none; stream with a      -                  a flag: 1 or 2   each, or all up to  when the channel ends; after
//	                    single active consumer                                                           consumer_timeout (30 min)
//	RabbitMQ quorum     as classic               -                  x-delivery-count as classic          as classic, until delivery-limit
//	RabbitMQ streams    stream                   stream, offset     -                position, kept in   behind the position
//	                                                                                 [Positions]
//	NATS JetStream      none; stream with a      stream, sequence   in each message  each, or all up to  after AckWait or a nak, until MaxDeliver
//	                    pinned member
//	Redis Streams       none; stream with one    stream, entry id   of XPENDING      each                what is idle and claimed, or read again
//	                    member                                                                           by the same name
//	MQTT 5, QoS 1, 2    stream; none if shared   -                  a flag: 1 or 2;  each, in sequence   when the session comes back
//	                                                                none if shared
//	webhook             none                     -                  -                the answer 2xx      when and if the sender tries again
//	Watermill           none                     -                  -                Message.Ack         of its subscriber
//
// The suite in source/sourcetest tests an adapter against this contract, on the real
// broker. source/memsource is the smallest source: read it first.
package source
