// Package plan compares what a configuration says with what its stores hold: boxes,
// subscriptions, retention, shards. It says what differs, in the sequence in which it is safe
// to do it, does it by the methods that the single commands use, and writes a configuration of
// what a store holds. Each property that is compared is one row of a table: property.go.
package plan
