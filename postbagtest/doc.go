// Package postbagtest helps you unit-test code that publishes, without a database.
//
// A [Recorder] takes the place of the store. Code that knows only a
// postbag.Sender gets one from it:
//
//	var rec postbagtest.Recorder[postbagtest.Tx]
//	err := PlaceOrder(ctx, rec.Sender(t, postbag.PublisherOptions{}), order)
//	rec.RequirePublished(t, postbagtest.Event(OrderCreated, order))
//
// If the code has a publisher of its own, and begins transactions with it, give it a
// publisher over the Recorder:
//
//	rec := &postbagtest.Recorder[pgx.Tx]{Tx: struct{ pgx.Tx }{}}
//	pub, err := postbag.NewPublisher(rec, postbag.PublisherOptions{})
//
// Messages are completed and checked as with a real store. A Recorder runs no SQL. Test
// code that also writes rows on a real store, such as sqlitestore on a temporary file.
//
// A [Want] says what a message must be like. Unlike everything else in Postbag, a failed
// assertion shows keys, headers and payloads: they belong to the test.
package postbagtest
