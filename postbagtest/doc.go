// Package postbagtest helps to unit-test code that publishes, without a
// database.
//
// A [Recorder] takes the place of the store. Code that knows only a
// postbag.Sender gets one from it:
//
//	var rec postbagtest.Recorder[postbagtest.Tx]
//	err := PlaceOrder(ctx, rec.Sender(t, postbag.PublisherOptions{}), order)
//	rec.RequirePublished(t, postbagtest.Event(OrderCreated, order))
//
// Code that has a publisher of its own, and begins transactions with it, gets a
// publisher over the Recorder:
//
//	rec := &postbagtest.Recorder[pgx.Tx]{Tx: struct{ pgx.Tx }{}}
//	pub, err := postbag.NewPublisher(rec, postbag.PublisherOptions{})
//
// Messages pass the same completion and the same checks as with a real store. A
// Recorder runs no SQL: code that writes rows too is better tested on the real
// store, such as sqlitestore on a temporary file.
//
// A [Want] says what a message must be like. Unlike all else in Postbag, a
// failed assertion shows keys, headers and payloads: they are a test's own.
package postbagtest
