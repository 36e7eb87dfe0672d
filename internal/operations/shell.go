package operations

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// special are signs that mean something within the quotation marks of some shell: fish, tcsh, PowerShell.
const special = "'\\!\u2018\u2019\u201a\u201b"

// Pasteable says that a text can be pasted into any shell once it is Quoted: no shell, and no terminal, takes a sign of it for more.
func Pasteable(text string) bool {
	return !strings.ContainsAny(text, special) && strings.IndexFunc(text, func(r rune) bool { return !unicode.IsPrint(r) || r == utf8.RuneError }) < 0
}

// Quoted writes a text so that a shell takes it as it is.
func Quoted(text string) string {
	word := func(r rune) bool {
		return r < utf8.RuneSelf && (unicode.IsLetter(r) || unicode.IsDigit(r) || strings.ContainsRune("._-/:=,", r))
	}
	if text != "" && strings.IndexFunc(text, func(r rune) bool { return !word(r) }) < 0 {
		return text
	}
	return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'"
}
