// Package storekit has code that every store over a database needs: how headers are
// stored, which slot a message belongs to, how a filter of types is compared, how
// listings name states and places, which marks of a call are one, which epoch a lane gets.
//
// Nothing here does I/O, reads a clock or starts a goroutine. Use it if you write a
// store. Package store says what a store promises, and package storetest tests that.
package storekit
