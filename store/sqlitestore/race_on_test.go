//go:build race

package sqlitestore

// Slowness divides the sizes of long tests.
const Slowness = 10
