package inbox

import (
	"errors"
	"fmt"
	"slices"
)

// Middleware returns a handler that does something before next gets a message, or with
// what next returned: it decrypts a payload, asks who may do this, counts, traces. Time,
// panics, retries and log lines are the work of a [Consumer] or a relay already.
//
// What it returns runs in the message's transaction, within its Timeout, and
// only for messages that have not been applied before. It passes on its ctx, or one
// derived from it, and its tx. It may give next a copy of the Message with other contents;
// it does not change what the Message points to. Its error is the handler's error. If it
// returns nil without calling next, the message is applied.
type Middleware[Tx any] func(next Handler[Tx]) Handler[Tx]

// wrap puts middleware before a handler. The first of all sees a message first, and its
// error last. It leaves out nil middleware, and calls the others once.
func wrap[Tx any](options string, handle Handler[Tx], all []Middleware[Tx]) (Handler[Tx], error) {
	for i, before := range slices.Backward(all) {
		if before == nil {
			continue
		}
		if handle = before(handle); handle == nil {
			return nil, fmt.Errorf("inbox: %s.Use[%d] returned a nil handler; return next if it has nothing to do", options, i)
		}
	}
	return handle, nil
}

// BatchMiddleware is what [Middleware] is, of a [BatchHandler]. It passes on its ctx, or one
// derived from it, and its tx. It gives next all messages that it got, in their sequence, or
// copies of them with other contents; one that it leaves out counts as applied. It is called
// again, with fewer messages, to find one that fails: so it does nothing outside tx that must
// happen once.
type BatchMiddleware[Tx any] func(next BatchHandler[Tx]) BatchHandler[Tx]

// wrapBatch is wrap, of a handler of many messages.
func wrapBatch[Tx any](handle BatchHandler[Tx], all []BatchMiddleware[Tx]) (BatchHandler[Tx], error) {
	for i, before := range slices.Backward(all) {
		if before == nil {
			continue
		}
		if handle = before(handle); handle == nil {
			return nil, fmt.Errorf("inbox: BatchDestinationOptions.UseBatch[%d] returned a nil handler; return next if it has nothing to do", i)
		}
	}
	return handle, nil
}

// ErrRejected says that a message can never be applied as it is: it cannot be decoded, or
// asks for what nobody will ever do. A handler that returns an error that wraps it has its
// transaction rolled back. A [Consumer] parks the message at once with the error as its
// reason: it counts as one failed attempt, and is not tried again. Behind a [Destination] or
// a [BatchDestination] the message is dead at once:
//
//	return fmt.Errorf("%w: the amount is negative", inbox.ErrRejected)
//
// The text of the error goes into the box and into the log, so keep what the payload says
// out of it. If the database fails at that moment, the transaction met another one, or the
// attempt took too long, the message is tried again after all.
var ErrRejected = errors.New("inbox: the handler rejected the message")
