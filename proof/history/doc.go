// Package history judges what a run of Postbag did by what others saw of it.
//
// Recorders that are no part of the product write down what happened: a writer what it meant to publish and what became of its
// transaction, a reader what it found in the broker, a harness which faults it made, which orders operators gave, and what the
// database showed of open transactions and lock waits. The records of a run are its history. One validator for each promise
// judges it, and shows of each breach all that is known: times, transactions, positions.
//
// A [History] holds records in memory, for a simulator that judges thousands of small runs a second. A [Writer] puts them into
// a file, one for each process; [CheckFiles] judges files of any size in bounded memory, by sorting on disk. Both go through
// the same stages:
//
//	records --by transaction--> messages with their fate
//	        --by message------> lost, phantom, duplicates, bytes, schedule, attempts
//	        --by key----------> order: a sweep in time that carries the furthest position of what must come before
//
// # Time
//
// All times of a history are durations on one clock, since one origin: [Clock] makes them of the clock of a machine, a
// simulator has its own. An operation has a begin and an end, and its effect lies somewhere between. Two operations are
// ordered only if one ended strictly before the other began: a simulator whose clock stands still while things happen should
// let each take a nanosecond.
//
// # Order
//
// Message A comes before message B of the same key if A stands before B in one transaction, or if the answer to the COMMIT of
// A was there before B was begun to be published. Other pairs have no order, and none is asked of them. What is compared is
// where each was first stored in the broker.
package history
