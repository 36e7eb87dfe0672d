// Package schema says what ent generates its code from: the one entity of the
// example, an order. Change it and run go generate in the folder above.
package schema
