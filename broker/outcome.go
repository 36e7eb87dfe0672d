package broker

import (
	"errors"
	"fmt"
)

// Outcome is what became of one message.
type Outcome int

const (
	// Unknown: sent, and the answer is lost or was never waited for. The relay sends the
	// message again, with the same id and bytes. It never takes it for delivered or for
	// failed.
	Unknown Outcome = iota
	// Accepted: the destination confirmed this message.
	Accepted
	// Rejected: this message can never be accepted as it is: too large, badly
	// encoded, refused by a handler. An attempt is counted.
	Rejected
	// Misconfigured: the topic or the destination is wrong, see Scope: no such topic, no
	// right, unroutable, a login refused. What is in its scope waits, and the relay logs
	// it. No attempt is counted.
	Misconfigured
	// Unavailable: not reachable, blocked, full or throttled; the message was not stored.
	// What is in its scope waits. No attempt is counted.
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

// Scope says how much of a destination a failure concerns. It has a meaning for
// Misconfigured and Unavailable. A Rejected message concerns only itself.
type Scope int

const (
	// ScopeDestination: for every message. The zero value.
	ScopeDestination Scope = iota
	// ScopeTopic: for messages of this one's topic: a subject that no stream
	// stores, a topic that is missing or full, an exchange without a queue for
	// this routing key, a path that answers 404, a right that is missing there.
	// Messages of other topics go on.
	ScopeTopic
)

// String returns the scope's name in lower case.
func (s Scope) String() string {
	switch s {
	case ScopeDestination:
		return "destination"
	case ScopeTopic:
		return "topic"
	}
	return fmt.Sprintf("scope(%d)", int(s))
}

// Error is an error with an outcome and a scope. Adapters return it from Probe and in
// results. Handlers and classifiers may wrap it.
type Error struct {
	Outcome Outcome
	Scope   Scope
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

// ScopeOf returns the scope that err carries in an *Error, and ScopeDestination for
// any other error.
func ScopeOf(err error) Scope {
	if e, ok := errors.AsType[*Error](err); ok {
		return e.Scope
	}
	return ScopeDestination
}

// OutcomeOf returns the outcome that err carries in an *Error, and Accepted for nil. It
// returns Unknown for any other error, and for an *Error that says Accepted.
func OutcomeOf(err error) Outcome {
	if err == nil {
		return Accepted
	}
	if e, ok := errors.AsType[*Error](err); ok && e.Outcome != Accepted {
		return e.Outcome
	}
	return Unknown
}
