// Package memstore is a store in memory. It is the reference for the conformance suite
// (store/storetest), the null store of benchmarks, and a fast fake for tests of programs
// that publish or relay.
//
//	s := memstore.New(memstore.Options{})
//	err := s.CreateBox(ctx, "outbox")
//	pub, err := postbag.NewPublisher(s, postbag.PublisherOptions{})
//
// It has what makes a real database hard. A transaction gets its number at its first
// write, and its messages get their seqs then. So a message may be committed long after
// others with higher seqs. A reader sees a snapshot, as in PostgreSQL: the number after
// that of the last transaction that ended, and the numbers below it that are still open.
// You can roll transactions back, in part too (savepoints), and prepare them and end them
// later. With Options.SingleWriter it is a store with one writer at a time.
//
// A position holds the snapshot that was read last, with a bound for each of its open
// transactions, below which that transaction has no message. In the middle of a window it
// also holds the snapshot that is being read, and the last seq. The idea of reading what
// lies between two snapshots is PgQ's.
//
// The store is an inbox too: marks of what consumers applied are part of their
// transactions. A call that would wait in a circle returns store.ErrAgain.
//
// Its clock is Options.Now, so that it works in a bubble of testing/synctest
// (the default, time.Now, is the bubble's clock there) and under a clock of the
// test's own. [Options.Fault] loses answers, fails calls and lets them hang.
//
// Messages are copied when you publish them. All readers share the payloads that reads
// return: do not write to them. Headers are the caller's own.
package memstore
