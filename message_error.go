package postbag

import (
	"errors"
	"fmt"
)

// MessageError says what is wrong with one message. Nothing was written. It quotes no
// payload, key or header value.
//
// A call reports its first 20 faults, of all its messages, joined as by errors.Join.
// errors.As finds the first; Unwrap() []error returns them all.
type MessageError struct {
	// Index is the message's place in the call, from zero.
	Index int
	// Field is the name of the field of Message that is wrong. Or it is "Check" if
	// PublisherOptions.Check says so, and "WrapEach" if a function of WrapEach does.
	Field string
	// Header is the name of the header that is wrong, if Field is "Headers" and a single
	// one is.
	Header string
	// Reason says what is wrong and how to fix it.
	Reason string
	// Got and Allowed are numbers of bytes if the fault is a length; Allowed is
	// zero otherwise.
	Got, Allowed int
	// Err is the codec's error if the message could not be encoded. It may hold
	// what Error leaves out. Or it is the error of PublisherOptions.Check, or of WrapEach. Nil
	// otherwise.
	Err error
}

// Error names the message, the field, the fault and what to do.
func (e *MessageError) Error() string {
	if e.Header != "" {
		return fmt.Sprintf("postbag: message %d: %s[%.64q] %s", e.Index, e.Field, e.Header, e.Reason)
	}
	return fmt.Sprintf("postbag: message %d: %s %s", e.Index, e.Field, e.Reason)
}

// Unwrap returns Err.
func (e *MessageError) Unwrap() error { return e.Err }

// maxFaults is how many faults a call reports one by one.
const maxFaults = 20

// faults gathers what is wrong with the messages of a call.
type faults struct {
	list []error
	more int
}

func (f *faults) add(e *MessageError) {
	if len(f.list) == maxFaults {
		f.more++
		return
	}
	f.list = append(f.list, e)
}

// count is how many faults there are.
func (f *faults) count() int { return len(f.list) + f.more }

// err returns all faults as one error, the only one as itself, and nil for none.
func (f *faults) err() error {
	switch {
	case f.more > 0:
		return errors.Join(append(f.list, fmt.Errorf("postbag: and %d more faults; fix these first", f.more))...)
	case len(f.list) == 1:
		return f.list[0]
	}
	return errors.Join(f.list...)
}
