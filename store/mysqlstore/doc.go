// Package mysqlstore keeps boxes in MySQL 8 and newer and MariaDB 10.11 and newer.
//
//	s, err := mysqlstore.Open(ctx, "app:secret@tcp(db:3306)/shop", mysqlstore.Options{Create: true})
//	...
//	pub, err := postbag.NewPublisher(s, postbag.PublisherOptions{})
//
// A box is a table, postbag_NAME, in the application's own database, so that
// messages commit with its data. [OpenAppender] publishes in transactions of the
// application's own *sql.DB.
//
// # How messages are read
//
// MySQL has nothing that says which transactions a reader can see, so that a seq
// which is missing below one that is there may still come, however late, or never.
// A position is therefore the highest seq that was passed and the seqs below it
// that are open. Each read takes a page of the log by its primary key, and then
// looks for the open seqs; those that have come are delivered before the page.
//
// Only the primary key proves that an open seq is dead: after a grace the store
// writes a row under it that is no message, a tombstone. Who would have come later
// gets error 1062 instead, and [postbag.Publisher] then repeats its statement with
// a new seq. So no message is ever passed over, and nobody waits for a
// transaction that is open.
//
// A reader takes no lock at all, and a tombstone is committed the moment it is
// written: no producer ever waits for the store.
package mysqlstore
