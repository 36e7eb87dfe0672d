// Package shop is what the examples have in common: an order, the event that says
// that it was placed, and the SQL of its table.
package shop
