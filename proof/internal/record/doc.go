// Package record makes a history of what the tests of whole systems know: how many messages of each key are committed, what
// the broker holds (read back message by message), and which faults the tests made. Package history judges it.
package record
