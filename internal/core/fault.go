package core

import (
	"context"
	"errors"

	"github.com/postbag/postbag/store"
)

// Fault is what a call to the store came to.
type Fault uint8

// The faults.
const (
	// Fine: it was answered.
	Fine Fault = iota
	// Failed: it was not, and may have been carried out or not.
	Failed
	// TimedOut is Failed since no answer came within the time of the call.
	TimedOut
	// Moved: the store answers, and is not as it was: what was read of it is worthless.
	Moved
	// LeaseLost: a lease is another's, or nobody's since its subscription was removed.
	LeaseLost
	// Incurable: waiting does not help. The caller stops the relay.
	Incurable
)

// FaultOf returns what an error of a call to the store means for the relay. It never returns
// Incurable, which only a check of the store can find.
func FaultOf(err error) Fault {
	switch {
	case err == nil:
		return Fine
	case errors.Is(err, store.ErrMoved), errors.Is(err, store.ErrRestarted):
		return Moved
	case errors.Is(err, store.ErrLeaseLost), errors.Is(err, store.ErrNoSubscription):
		return LeaseLost
	case errors.Is(err, context.DeadlineExceeded):
		return TimedOut
	default:
		return Failed
	}
}
