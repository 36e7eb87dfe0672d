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
// An application that has a *sql.DB on the file already, or an ORM, uses
// [OpenDB] with it, and the store itself as the appender: it takes every
// transaction that is a [postbag.SQLTx]. [OpenAppender] is for those that publish alone.
//
// # How it works
//
// Box b is the table postbag_b, whose rowid is AUTOINCREMENT. SQLite has one
// writer at a time, so that the order of rowids is the order of commits: a
// position is a rowid, a read is a range of the primary key, and nothing can
// appear behind a position. The slot of a message is computed as it is read. All
// settlements of a Turn are one short write transaction; a Turn without any
// writes nothing. Reads are single statements in write-ahead-log mode: they
// neither block writers nor wait for them, and leave no transaction open that
// would keep the log from being emptied.
//
// The writer lock is all there is to wait for. Writers of one process queue for
// it in order, and leave it to other processes for a moment when they have had it
// for long; against those of other processes the store tries again, with
// short pauses, for Options.BusyTimeout. A transaction always begins with it
// (BEGIN IMMEDIATE): one that reads first and writes later would fail at once
// when another had written between.
//
// What is promised needs synchronous=FULL, which is asked for and looked at; a
// SQLite without the flaw that could damage a log that is reset while it is
// written; and a file system whose locks work, so not a network one.
package sqlitestore
