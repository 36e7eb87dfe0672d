// Package matrix delivers from every store to every kind of destination, on real servers, while a relay is killed and the
// broker restarts: nothing is lost, nothing is a phantom, no key is out of order. "make matrix" prints the table in full
// size; by default each pair is small.
package matrix
