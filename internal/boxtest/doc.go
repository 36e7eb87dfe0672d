// Package boxtest is what the tests of stores do with a box: they are its relay and its housekeeper, one step at a time.
// It is for tests only.
package boxtest
