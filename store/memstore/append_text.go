package memstore

import (
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"
)

// checkText refuses text that a database would not take. It does not repeat it.
func checkText(what, text string, most int) error {
	switch {
	case len(text) > most:
		return fmt.Errorf("the %s has %d bytes, more than %d; shorten it", what, len(text), most)
	case !utf8.ValidString(text):
		return errors.New("the " + what + " is not UTF-8; encode it, or send it in the payload")
	case strings.IndexByte(text, 0) >= 0:
		return errors.New("the " + what + " has a NUL; remove it, or send it in the payload")
	}
	return nil
}
