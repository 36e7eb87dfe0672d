// Package component has the table of all kinds of stores and destinations: which settings
// each takes from the configuration, and how to open it. A new adapter is a row here and
// a file beside it.
package component
