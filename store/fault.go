package store

import "errors"

// FaultHeader is a header that no publisher can set. A store returns a message that has it
// with its value as [Record].Err: relays do not send the message, and treat it as rejected
// for that reason. An inbox uses it for what it took in and cannot be worked with, so that
// people see it.
const FaultHeader = "Postbag-Fault"

// HeaderFault is what FaultHeader says of a message, or nil. Stores call it for the headers
// of each row.
func HeaderFault(headers map[string]string) error {
	if len(headers) == 0 {
		return nil
	}
	if why, ok := headers[FaultHeader]; ok {
		return errors.New(why)
	}
	return nil
}
