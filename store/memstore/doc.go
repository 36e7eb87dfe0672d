// Package memstore is a store in memory: the reference that the conformance
// suite (store/storetest) is written against, the null store of benchmarks, and
// a fast fake for tests of programs that publish or relay.
//
//	s := memstore.New(memstore.Options{})
//	err := s.CreateBox(ctx, "outbox")
//	pub, err := postbag.NewPublisher(s, postbag.PublisherOptions{})
//
// It keeps what makes a real database hard. A transaction is numbered at its
// first write, and its messages get their seqs then, so that a message may be
// committed long after others with higher seqs. What a reader sees is a
// snapshot in PostgreSQL's sense: the number after that of the last transaction
// that ended, and the numbers below it that are still open. Transactions can be
// rolled back, in part too (savepoints), and be prepared and ended later.
// Options.SingleWriter makes it a store with one writer at a time instead.
//
// A position holds the snapshot that was read last, with a bound for each of
// its open transactions below which that transaction has no message; in the
// middle of a window also the snapshot that is being read and the last seq. The
// idea of reading what lies between two snapshots is PgQ's.
//
// Its clock is Options.Now, so that it works in a bubble of testing/synctest
// (the default, time.Now, is the bubble's clock there) and under a clock of the
// test's own. [Options.Fault] loses answers, fails calls and lets them hang.
//
// Messages are copied on their way in. Payloads that reads return are shared
// between all readers and must not be written to; headers are the caller's own.
package memstore
