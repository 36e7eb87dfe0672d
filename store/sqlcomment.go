package store

import (
	"errors"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// SQLComments says what stands in a comment at the end of each statement that a store
// over SQL sends for messages, in the form of sqlcommenter
// (https://google.github.io/sqlcommenter/):
//
//	/*application='orders',framework='postbag%3Av0.1.0',postbag_role='publisher'*/
//
// The sessions and the log of the server then show whose statement it
// is. The comment is the same in every statement of one role, so that statements stay
// prepared: it says nothing of a message. The roles are publisher (appends, locks,
// cancels), consumer (marks and lanes) and relay (all other work of a store).
type SQLComments struct {
	// Application is the name of your program: valid UTF-8 without control characters,
	// 64 bytes at most. What SQL could misread is encoded. Empty: there are no comments.
	Application string
}

// maxApplication is the longest name of an application, in bytes. Encoded, it stays far
// below the room that stores keep free in a statement.
const maxApplication = 64

// Validate returns what is wrong with the name, or nil. Stores call it as they open.
func (c SQLComments) Validate() error {
	switch {
	case len(c.Application) > maxApplication:
		return fmt.Errorf("SQLComments.Application holds %d bytes; use at most %d", len(c.Application), maxApplication)
	case !utf8.ValidString(c.Application):
		return errors.New("SQLComments.Application is not valid UTF-8; correct it")
	case strings.ContainsFunc(c.Application, unicode.IsControl):
		return errors.New("SQLComments.Application holds a control character; leave it out")
	}
	return nil
}
