package mqttbroker

import (
	"strings"
	"unicode/utf8"
)

// carried says whether r, at text[i], is one of the characters that every broker
// takes.
func carried(text string, i int, r rune) bool {
	switch {
	case r == utf8.RuneError:
		return strings.HasPrefix(text[i:], "\ufffd")
	case r < ' ', r >= 0x7f && r < 0xa0:
		return false
	case r >= 0xfdd0 && r <= 0xfdef, r&0xfffe == 0xfffe:
		return false
	}
	return true
}

// escape percent-encodes what MQTT's text cannot carry, and '%' itself.
// broker.Unescape undoes it.
func escape(text string) string {
	plain := true
	for i, r := range text {
		if r == '%' || !carried(text, i, r) {
			plain = false
			break
		}
	}
	if plain {
		return text
	}
	var b strings.Builder
	for i := 0; i < len(text); {
		r, size := utf8.DecodeRuneInString(text[i:])
		if r != '%' && carried(text, i, r) {
			b.WriteString(text[i : i+size])
		} else {
			for _, c := range []byte(text[i : i+size]) {
				encode(&b, c)
			}
		}
		i += size
	}
	return b.String()
}

func encode(b *strings.Builder, c byte) {
	const digits = "0123456789ABCDEF"
	b.WriteByte('%')
	b.WriteByte(digits[c>>4])
	b.WriteByte(digits[c&15])
}

// disarm encodes the first letter of a header's name, so that nobody takes it for a
// fact, and broker.Unescape still gives it back.
func disarm(name string) string {
	var b strings.Builder
	encode(&b, name[0])
	b.WriteString(name[1:])
	return b.String()
}
