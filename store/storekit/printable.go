package storekit

import (
	"fmt"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Printable returns a name or an id for people: quoted if it is text that can be printed,
// else its bytes in hexadecimal.
func Printable(name string) string {
	odd := func(r rune) bool { return !unicode.IsPrint(r) }
	if utf8.ValidString(name) && !strings.ContainsFunc(name, odd) {
		return strconv.Quote(name)
	}
	return fmt.Sprintf("0x%x", name)
}
