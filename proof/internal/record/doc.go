// Package record makes a history of what the tests of whole systems know: how many messages of each key are committed, what
// lies in the broker, read back message by message, and which faults they made. Package internal/history judges it.
package record
