package broker

import (
	"errors"
	"fmt"
)

// Outcome is what became of one message.
type Outcome int

const (
	// Unknown: sent, and the answer is lost or was never waited for. It is sent
	// again, same id and bytes; it is never taken for delivered nor for failed.
	Unknown Outcome = iota
	// Accepted: the destination confirmed this very message.
	Accepted
	// Rejected: this message can never be accepted as it is: too large, badly
	// encoded, refused by a handler. An attempt is counted.
	Rejected
	// Misconfigured: the destination is wrong for every message of its kind: no
	// such topic, no right, unroutable. The subscription pauses and alarms; no
	// attempt is counted.
	Misconfigured
	// Unavailable: not reachable, blocked or throttled; the message was not
	// stored. The circuit opens; no attempt is counted.
	Unavailable
	// NotSent: held back because an earlier message of its key, or the call as a
	// whole, failed. It is sent again; no attempt is counted.
	NotSent
)

// String returns the outcome's name in lower case.
func (o Outcome) String() string {
	names := [...]string{"unknown", "accepted", "rejected", "misconfigured", "unavailable", "not sent"}
	if o < 0 || int(o) >= len(names) {
		return fmt.Sprintf("outcome(%d)", int(o))
	}
	return names[o]
}

// ErrClosed is the error of a Publish after Close.
var ErrClosed = errors.New("broker: destination is closed; make a new one")

// Error is an error that knows its outcome. Adapters return it from Probe and
// in results; handlers and classifiers may wrap it.
type Error struct {
	Outcome Outcome
	Err     error
}

// Error returns the text of the wrapped error.
func (e *Error) Error() string {
	if e.Err == nil {
		return e.Outcome.String()
	}
	return e.Err.Error()
}

// Unwrap returns the wrapped error.
func (e *Error) Unwrap() error { return e.Err }

// OutcomeOf returns the outcome that err carries in an *Error, Accepted for nil,
// and Unknown for any other error.
func OutcomeOf(err error) Outcome {
	if err == nil {
		return Accepted
	}
	if e, ok := errors.AsType[*Error](err); ok {
		return e.Outcome
	}
	return Unknown
}
