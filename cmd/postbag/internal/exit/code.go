package exit

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strings"

	"github.com/postbag/postbag"
	"github.com/postbag/postbag/broker"
	"github.com/postbag/postbag/internal/operations"
	"github.com/postbag/postbag/store"
)

// Code is an exit code.
type Code int

// The exit codes.
const (
	OK          Code = 0   // done
	Failed      Code = 1   // it was tried and went wrong
	Usage       Code = 2   // the arguments, the configuration or the input are wrong; nothing was done
	NotFound    Code = 3   // no such message, box or subscription
	Unavailable Code = 4   // the store or the broker does not answer
	Schema      Code = 5   // the schema is missing or needs a migration
	Unhealthy   Code = 6   // status --check found something that does not work
	Held        Code = 7   // relay --drain left shards that another relay holds
	Interrupted Code = 130 // ended by a signal before it was done
)

// Meaning says what a code stands for.
func (c Code) Meaning() string {
	switch c {
	case OK:
		return "done"
	case Usage:
		return "the arguments, the configuration or the input are wrong; nothing was done. Of plan and apply alone: the stores differ from the file"
	case NotFound:
		return "no such message, box or subscription"
	case Unavailable:
		return "the store or the broker does not answer"
	case Schema:
		return "the schema is missing or needs a migration"
	case Unhealthy:
		return "status --check found something that does not work"
	case Held:
		return "relay --drain left shards that another relay holds"
	case Interrupted:
		return "ended by a signal before it was done"
	case Failed:
	}
	return "it was tried and went wrong. Of plan and apply: what is 2 elsewhere, too"
}

// Codes are all exit codes in order.
func Codes() []Code {
	return []Code{OK, Failed, Usage, NotFound, Unavailable, Schema, Unhealthy, Held, Interrupted}
}

// coded is an error with an exit code of its own.
type coded struct {
	code Code
	err  error
}

func (e *coded) Error() string { return e.err.Error() }
func (e *coded) Unwrap() error { return e.err }

// With gives err the code c. A nil error stays nil.
func With(c Code, err error) error {
	if err == nil {
		return nil
	}
	return &coded{code: c, err: err}
}

// Usagef returns an error with the code Usage.
func Usagef(format string, args ...any) error { return With(Usage, fmt.Errorf(format, args...)) }

// differs says that stores differ from a configuration.
type differs struct{ text string }

func (d *differs) Error() string { return d.text }

// Differs returns the error of a command whose answer is that something differs. Its code is 2, as that of
// similar tools.
func Differs(text string) error { return With(Usage, &differs{text}) }

// OfComparison is Of for a command that compares: 2 says that something differs, and nothing else. What has that code elsewhere
// has that of a failure.
func OfComparison(err error) Code {
	if _, ok := errors.AsType[*differs](err); !ok && Of(err) == Usage {
		return Failed
	}
	return Of(err)
}

// Of returns the exit code of err.
func Of(err error) Code {
	if err == nil {
		return OK
	}
	if own, ok := errors.AsType[*coded](err); ok {
		return own.code
	}
	is := func(targets ...error) bool {
		for _, target := range targets {
			if errors.Is(err, target) {
				return true
			}
		}
		return false
	}
	_, faulty := errors.AsType[*postbag.MessageError](err)
	_, network := errors.AsType[net.Error](err)
	switch {
	case is(context.Canceled):
		return Interrupted
	case faulty, is(store.ErrFilterDiffers, store.ErrSlotRule, store.ErrNoNumber, store.ErrCursor, store.ErrWorked, operations.ErrInvalid, operations.ErrUnsupported):
		return Usage
	case is(store.ErrNoBox, store.ErrNoSubscription, operations.ErrNotFound):
		return NotFound
	case is(store.ErrSchema):
		return Schema
	case network, is(context.DeadlineExceeded), broker.OutcomeOf(err) == broker.Unavailable:
		return Unavailable
	}
	return ofState(err)
}

// ofState returns the code of a database server's answer (SQLSTATE), as far as it
// is about the server or the DSN.
func ofState(err error) Code {
	answer, ok := errors.AsType[interface {
		error
		SQLState() string
	}](err)
	if !ok {
		return Failed
	}
	switch state := answer.SQLState(); {
	case strings.HasPrefix(state, "08"), strings.HasPrefix(state, "57P0"), state == "53300":
		return Unavailable
	case strings.HasPrefix(state, "28"), state == "3D000":
		return Usage
	}
	return Failed
}
