package testserver

import (
	"errors"
	"fmt"
)

// ErrMissing matches, with [errors.Is], every [MissingError].
var ErrMissing = errors.New("testserver: something this machine lacks")

// MissingError says that this machine lacks what a server needs: its programs, an account, or a privilege. It is not a
// fault of the server.
type MissingError struct {
	// What is missing, in words: "PostgreSQL's server programs".
	What string
	// Fix is what to do about it, as a command or a sentence.
	Fix string
}

// Error names what is missing and what to do.
func (e *MissingError) Error() string {
	return fmt.Sprintf("testserver: this machine lacks %s: %s", e.What, e.Fix)
}

// Is makes every MissingError match [ErrMissing].
func (e *MissingError) Is(target error) bool { return target == ErrMissing }

// errState is the answer to a command that the server's present state does not allow.
func errState(server, order, fix string) error {
	return fmt.Errorf("testserver: cannot %s %s: %s", order, server, fix)
}
