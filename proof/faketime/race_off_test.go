//go:build !race

package faketime_test

// slowness divides the number of seeds.
const slowness = 1
