// Package boxtest plays the relay and the housekeeper of a box for tests of stores, one step at a time.
// It is for tests only.
package boxtest
