// Package history judges a run of Postbag by the records of others.
//
// Recorders that are no part of the product write down what happened. A writer records what it is about to publish, and what became
// of its transaction. A reader records what it found in the broker, and what the handler of an inbox left
// in its table of effects. A harness records its faults, the operators' commands, and what
// the database showed of open transactions and lock waits. The records of a run are its history. One validator per promise judges
// it, and shows all that is known of each breach: times, transactions, positions.
//
// A [History] holds records in memory, for a simulator that judges thousands of small runs a second. A [Writer] puts them into
// a file, one for each process; [CheckFiles] judges files of any size in bounded memory, by sorting on disk. Both go through
// the same stages:
//
//	records --by transaction--> messages with their fate
//	        --by message------> lost, phantom, duplicates, bytes, schedule, attempts, applied
//	        --by key----------> order, applied: a sweep in time that carries the furthest position of what must come first
//
// # Time
//
// All times of a history are durations on one clock, since one origin. [Clock] makes them from the clock of a machine. A
// simulator has a clock of its own. An operation has a begin and an end, and its effect lies somewhere between. One operation
// comes before another only if it ended strictly before the other began. So a simulator whose clock stands still while things
// happen should let each take a nanosecond.
//
// # Order
//
// Message A comes before message B of the same key in two cases: A stands before B in one transaction, or the answer to the
// COMMIT of A was there before the publishing of B began. Other pairs have no sequence, and none is asked of them. The checker
// compares where each was first stored in the broker, and where its effect stands among those of its key.
package history
