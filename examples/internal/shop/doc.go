// Package shop is the code that the examples share: an order, the event that the order
// was placed, and the SQL of its table.
package shop
