package postbag

import "errors"

// ErrNoBox says that a box does not exist in the store.
var ErrNoBox = errors.New("postbag: no such box; make it with postbag migrate up --box, or with the store's Create option")

// ErrCommitUnknown says that the answer to COMMIT was lost. The transaction may have
// committed or not. Nothing is retried: find out before you repeat it. A plain SELECT is
// not enough, because the commit may still be on its way; see docs/guides/publish.md.
var ErrCommitUnknown = errors.New("postbag: the outcome of the commit is unknown; check whether the transaction stands before repeating it")

// ErrNoTx says that the transaction is nil. A value of another type does not compile, but
// nil does.
var ErrNoTx = errors.New("postbag: the transaction is nil; begin one, or use InTx")

// ErrTxEnded says that the transaction has ended before the call: it was committed or rolled
// back, or the context that it was begun with has ended. Nothing was written. The error of a
// store wraps the driver's own too (pgx.ErrTxClosed, sql.ErrTxDone).
var ErrTxEnded = errors.New("postbag: the transaction has ended, by a commit, a rollback or the end of its context; begin another one, or use InTx")

// ErrEventType says that a message has another type than the Event that should decode it.
var ErrEventType = errors.New("postbag: the message is of another event type; choose the Event by Message.Type")
