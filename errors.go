package postbag

import "errors"

// ErrNoBox says that a box does not exist in the store.
var ErrNoBox = errors.New("postbag: no such box; make it with postbag migrate up --box, or with the store's Create option")

// ErrCommitUnknown says that the answer of COMMIT was lost: the transaction may
// stand or not. Nothing is retried; look for a row of it before doing it again.
var ErrCommitUnknown = errors.New("postbag: the outcome of the commit is unknown; check whether the transaction stands before repeating it")

// ErrNoTx says that a publisher was given nil for a transaction. A value that is
// no transaction does not compile; a nil one cannot be kept from compiling.
var ErrNoTx = errors.New("postbag: the transaction is nil; begin one, or use InTx")

// ErrEventType says that a message is of another type than the Event that was to
// decode it.
var ErrEventType = errors.New("postbag: the message is of another event type; choose the Event by Message.Type")
