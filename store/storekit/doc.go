// Package storekit has what stores over a database have in common and none of
// them should write again: how headers are stored, where a message belongs, how
// a filter of types is compared, how listings name states and places.
//
// Everything here is pure: no I/O, no clock, no goroutine. It is for authors of
// stores; what a store promises is in package store, and package storetest holds
// it to that.
package storekit
