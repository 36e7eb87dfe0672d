// Package intake runs the sources of a postbag.yaml: each takes messages from a broker into
// a box, until it is told to stop.
package intake
