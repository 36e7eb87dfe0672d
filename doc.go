// Package postbag is a transactional outbox. It writes messages in the transaction that
// writes your data, so that both are saved or neither is.
//
// # Publishing
//
// Make a [Publisher] over a store: package pgstore, sqlitestore or another adapter. It
// takes that store's own kind of transaction. Anything else, such as a *sql.DB, does not
// compile:
//
//	pub, err := postbag.NewPublisher(store, postbag.PublisherOptions{})
//
//	err = pub.InTx(ctx, func(ctx context.Context, tx pgx.Tx) error {
//		if _, err := tx.Exec(ctx, `insert into orders values ($1)`, o.ID); err != nil {
//			return err
//		}
//		return pub.Publish(ctx, tx, OrderCreated.Message(o))
//	})
//
// In a transaction of your own, call Publish in the same way. After the commit call
// [Publisher.Committed], if a relay in this process should hear of the message at once.
// Business code needs only a [Sender]: [Publisher.Bind] makes one for a transaction.
//
// Publish checks every [Message] before it runs any SQL. A [MessageError] names the
// message, the field and what to do. An [Event] connects a Go type with its name on the
// wire, and encodes it.
//
// # Delivery
//
// A relay (package relay) delivers what you committed to a destination (package broker
// and its adapters). It runs in this process or in another. It delivers every message at
// least once, and messages of one [Message.Key] in commit order. A message with
// [Message.NotBefore] waits for its time. You can cancel it until then.
//
// # Stores
//
// To write a store for another database, implement [Appender], and the interfaces of
// package store. Unit tests of code that publishes need no database: see package
// postbagtest.
//
// This package imports only the standard library, and nothing else of Postbag.
package postbag
