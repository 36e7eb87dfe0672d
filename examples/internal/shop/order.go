package shop

import "github.com/postbag/postbag"

// Order is what the examples save and publish.
type Order struct {
	Customer string `json:"customer"`
	Cents    int    `json:"cents"`
}

// Placed is the event of an order, keyed by its customer.
var Placed = postbag.Event[Order]{
	Type: "order.placed", Topic: "orders.placed",
	Key: func(o Order) string { return o.Customer },
}

// Schema makes the table of orders.
const Schema = `create table if not exists orders (id bigserial primary key, customer text not null, cents bigint not null)`
