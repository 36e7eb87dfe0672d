// Package component holds the table of what this program is made of: the kinds
// of stores and of destinations, what each takes from the configuration, and how
// it is opened. A new adapter is a row here and a file beside it.
package component
