// Package record compares the two records that a survival test keeps: what the writers know to be committed, and what lies in
// the broker, read back message by message. What was lost, what nobody committed, what came out of its order and what came
// twice is counted, and each duplicate is laid to a fault that the test made.
package record
