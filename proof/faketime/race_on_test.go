//go:build race

package faketime_test

// slowness divides the number of seeds: the race detector makes each take several times as long.
const slowness = 3
