// Package gormpostbag publishes the events of models that GORM saves, in the transaction
// that saves them.
//
// Make the model a [postbag.Aggregate], and register the plugin with a publisher over the
// same database:
//
//	type Order struct {
//		ID       int64
//		Customer string
//		postbag.DomainEvents
//	}
//
//	db.Use(gormpostbag.New(pub))
//
//	order.Raise(OrderPlaced.Message(order))
//	err := db.Create(&order).Error // the row and its message, or neither
//
// The plugin looks at the values that are created, updated and deleted: at the model of
// the call, at the elements of a slice, and at associations that GORM saves with it. What
// they have raised is published when their statement has succeeded, in the sequence of
// the statements. An event that cannot be published is the error of the call, and the
// transaction is rolled back.
//
// A statement that changes no row fails with [ErrNoRow] if its model has raised events.
// An update or a delete that names no loaded model, such as
// db.Model(&Order{}).Where(...).Update(...), has no events.
package gormpostbag
