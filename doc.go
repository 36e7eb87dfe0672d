// Package postbag writes messages in the transaction that writes the data they
// speak of, so that both are saved or neither is.
//
// # Publishing
//
// A [Publisher] is made over a store (package pgstore, sqlitestore or another
// adapter) and takes that store's own kind of transaction. Anything else, such
// as a *sql.DB, does not compile:
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
// In a transaction that was begun elsewhere it is the same call of Publish, and
// [Publisher.Committed] after the commit if the relay of this process should
// hear of it at once. Business code needs only a [Sender], a publisher bound to
// one transaction by [Publisher.Bind].
//
// What a [Message] may be is checked before any SQL; a [MessageError] names the
// message, the field and what to do. An [Event] ties a Go type to its name on the
// wire and encodes it.
//
// # Delivery
//
// What was committed is delivered by a relay (package relay), in this process
// or another, to a destination (package broker and its adapters): every message
// at least once, messages of one [Message.Key] in commit order. A message with
// [Message.NotBefore] waits for its time and can be cancelled until then.
//
// # Stores
//
// A store for another database implements [Appender], and what package store
// asks for. Unit tests of publishing code need no database: see package
// postbagtest.
//
// This package imports the standard library only and nothing else of Postbag.
package postbag
