package store

import "errors"

// FaultHeader is a header that no publisher can set. A store returns a message that has it
// with its value as [Record].Err: relays do not send the message, and treat it as rejected
// for that reason. An inbox uses it for what it took in and cannot be worked with, so that
// people see it.
const FaultHeader = "Postbag-Fault"

// FailedHeader is a header that no publisher can set. A consumer writes it into a message that it
// has parked because its handler failed, with the reason as its value. It is no fault: relays send
// the message as any other. It is about that one message, and one that is made of it, such as an
// edited one, does not have it.
const FailedHeader = "Postbag-Failed"

// ErasedHeader is a header that no publisher can set. [Editor].Erase leaves it in place of
// all others. A subscription that reads the message again, such as a replay, gets it as
// Filtered, whatever its filter: what is left is for nobody.
const ErasedHeader = "Postbag-Erased"

// HeaderFault is what FaultHeader says of a message, [ErrErased], or nil. Stores call it for
// the headers of each row.
func HeaderFault(headers map[string]string) error {
	if len(headers) == 0 {
		return nil
	}
	if why, ok := headers[FaultHeader]; ok {
		return errors.New(why)
	}
	if IsErased(headers) {
		return ErrErased
	}
	return nil
}

// IsErased says whether the headers are those of an erased message.
func IsErased(headers map[string]string) bool {
	_, ok := headers[ErasedHeader]
	return ok
}

// ErrErased is the [Record].Err of an erased message. A page has such a message as
// Filtered. It shows in a listing alone.
var ErrErased = errors.New("it was erased: payload, headers and key are gone; discard it")
