// Package inbox lets a consumer apply each message once, although a broker delivers some
// of them more than once. It marks the message's id in the transaction that has the
// message's effect:
//
//	in, err := inbox.New(s)
//	...
//	fresh, err := in.Once(ctx, tx, "billing", inbox.UUID(m.ID))
//	if err != nil {
//		return err // roll back; the broker delivers the message again
//	}
//	if fresh {
//		err = charge(ctx, tx, m) // with tx
//	}
//	... // commit, then acknowledge
//
// This is the idempotent receiver of Hohpe and Woolf (Enterprise Integration Patterns). If
// the consumer dies before its commit, neither effect nor mark is there, and the next
// delivery is fresh. If it dies after its commit, the next delivery is not.
//
// What once means, and what it does not:
//
//   - Once is per consumer, a name that you choose. Two consumers apply a message once
//     each. All processes of one consumer use one name.
//   - It holds for what is written in tx. An e-mail, or a call of another service, is not
//     part of tx and can happen twice. Publish a message in tx instead (package postbag),
//     or give the other service an id that it knows a repeat by.
//   - It holds for as long as a mark is kept: store.DefaultKeep, or what Declare says. A
//     message that comes again after that is fresh. Keep marks for longer than the broker
//     can deliver again: think of its retention, of dead letters that somebody sends
//     again, and of a backup.
//   - It depends on the id. The same message must have the same id at each delivery, and
//     no other message may have it. OnceBytes finds an id that comes with other bytes.
//     Where messages have no id, Place makes one of where a message lies in a log.
//   - It keeps no sequence. A late message is fresh, however late it is.
//   - Acknowledge after the commit. If you do it before, a message can be lost.
//
// Two transactions that mark one id wait for each other, so keep them short. Some end with
// store.ErrAgain: a deadlock, a lock timeout, or a snapshot that is too old. Roll back and
// run the whole transaction again, or let the broker deliver the message again. After
// another error, roll back too.
//
// A [Consumer] does all that for you: it takes messages from a broker (package source), calls
// your handler in a transaction with the mark, and acknowledges after the commit. Messages of
// one key are applied in sequence, others side by side. What fails is tried again, and parked
// in a box. A [Destination] behind that box, with the same handler, has it applied later.
// [On] and [NewRouter] make its handler of typed ones, each for an event.
//
// A [Receiver] goes further: it takes messages from a broker (package source) and stores
// each once in a box, from which a relay works them. A [Destination] is what the relay then
// delivers to, if a handler of yours applies the messages: it calls the handler in a
// transaction with a mark. A [BatchDestination] applies whole pages, each in a transaction
// with one record and no mark.
//
// [Positions] keeps how far a source has acked, for brokers that do not: streams of RabbitMQ.
//
// Marks take space. Run [Inbox.Maintain] in one process or in several: it removes those
// whose time is over.
package inbox
