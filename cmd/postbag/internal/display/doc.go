// Package display shows messages and the state of a store to people, as tables and text on a terminal, or to programs, as JSON.
package display
