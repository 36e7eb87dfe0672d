// Package matrix delivers from every store to every kind of destination, on real servers, while a relay is killed and the
// broker restarts: nothing is lost, nothing is a phantom, no key is out of sequence. By default each pair is small. "make
// matrix" runs them in full size and prints the table.
package matrix
