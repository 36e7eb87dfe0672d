// Package mysqlstore keeps boxes in MySQL 8 and newer and MariaDB 10.11 and newer.
//
//	s, err := mysqlstore.Open(ctx, "app:secret@tcp(db:3306)/shop", mysqlstore.Options{Create: true})
//	...
//	pub, err := postbag.NewPublisher(s, postbag.PublisherOptions{})
//
// A box is a table, postbag_NAME, in your application's database, so messages commit with
// your data. [OpenAppender] publishes in transactions of your own *sql.DB.
//
// # How messages are read
//
// MySQL does not tell which transactions a reader can see. So a missing seq below an
// existing one may still come, however late, or never. A position is therefore the
// highest seq that was passed, and the seqs below it that are open. Each read takes a
// page of the log by its primary key, and then looks for the open seqs. Those that have
// come are delivered before the page.
//
// After a grace the store closes an open seq: it writes a row under it that is no
// message, a tombstone. The primary key then refuses a producer that comes later, with
// error 1062, and [postbag.Publisher] repeats its statement with a new seq. So no message
// is ever skipped, and nobody waits for an open transaction.
//
// A reader takes no lock at all, and a tombstone is committed the moment it is written.
// So a producer's INSERT never waits for the store.
package mysqlstore
