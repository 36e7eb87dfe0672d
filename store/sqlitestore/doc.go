// Package sqlitestore keeps boxes in a SQLite database: one file on a local
// disk, no server, any number of processes. It uses modernc.org/sqlite, which
// needs no C compiler.
//
//	st, err := sqlitestore.Open(ctx, "shop.db", sqlitestore.Options{Create: true})
//	pub, err := postbag.NewPublisher(st.SQL(), postbag.PublisherOptions{})
//	err = pub.InTx(ctx, func(ctx context.Context, tx *sql.Tx) error {
//		if _, err := tx.ExecContext(ctx, `insert into orders values (?)`, o.ID); err != nil {
//			return err
//		}
//		return pub.Publish(ctx, tx, OrderCreated.Message(o))
//	})
//
// If you already have a *sql.DB on the file, or an ORM, use [OpenDB] with it, and the
// store itself as the appender: it takes every transaction that is a [postbag.SQLTx]. Use
// [OpenAppender] to publish only.
//
// # How it works
//
// Box b is the table postbag_b, whose rowid is AUTOINCREMENT. SQLite has one writer at a
// time, so the order of rowids is the order of commits. A position is a rowid, a read is
// a range of the primary key, and nothing can appear below a position. The slot of a
// message is computed when it is read.
//
// All settlements of a Turn are one short write transaction. A Turn without settlements
// writes nothing. Reads are single statements in write-ahead-log mode. They do not block
// writers or wait for them, and leave no transaction open that would keep the log from
// being emptied.
//
// Writers only wait for the writer lock. Writers of one process queue for it in order.
// When they have had it for long, they leave it to other processes for a moment. Against
// writers of other processes the store tries again, with short pauses, for
// Options.BusyTimeout. A transaction always begins with the lock (BEGIN IMMEDIATE): one
// that reads first and writes later would fail at once if another has written in between.
//
// The promises need three things: synchronous=FULL, which the store sets and checks; a
// SQLite without the flaw that could damage a log that is reset while it is written; and
// a file system whose locks work, so not a network file system.
package sqlitestore
