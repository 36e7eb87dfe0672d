package terminal

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// Printable makes a text safe for one line of a terminal: what a message holds
// must neither move the cursor, nor change a title, nor turn the direction of
// writing. Each rune that does not show becomes a dot.
func Printable(s string) string {
	return strings.Map(func(r rune) rune {
		if !unicode.IsGraphic(r) {
			return '·'
		}
		return r
	}, s)
}

// PrintableText is Printable for text of several lines.
func PrintableText(s string) string {
	return strings.Map(func(r rune) rune {
		if r == '\n' || r == '\t' || unicode.IsGraphic(r) {
			return r
		}
		return '·'
	}, s)
}

// Short cuts a text to at most n runes.
func Short(s string, n int) string {
	if utf8.RuneCountInString(s) <= n {
		return s
	}
	count := 0
	for i := range s {
		if count++; count == n {
			return s[:i] + "…"
		}
	}
	return s
}
