package terminal

import (
	"bytes"
	"encoding/json"
	"fmt"
	"unicode"
)

// Emit writes v as JSON that people can read too.
func (c *Terminal) Emit(v any) error { return c.encode(v, "  ") }

// Line writes v as one line of JSON.
func (c *Terminal) Line(v any) error { return c.encode(v, "") }

func (c *Terminal) encode(v any, indent string) error {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.SetIndent("", indent)
	if err := e.Encode(v); err != nil {
		return fmt.Errorf("write JSON: %w", err)
	}
	_, err := c.Out.Write(escaped(b.Bytes()))
	return err
}

// escaped writes runes that do not show as \u escapes, so that JSON on a terminal
// is as safe as text. In JSON such runes stand only inside of texts.
func escaped(text []byte) []byte {
	if bytes.IndexFunc(text, hidden) < 0 {
		return text
	}
	var b bytes.Buffer
	for _, r := range string(text) {
		switch {
		case !hidden(r):
			b.WriteRune(r)
		case r > 0xffff:
			r -= 0x10000
			fmt.Fprintf(&b, `\u%04x\u%04x`, 0xd800+r>>10, 0xdc00+r&0x3ff)
		default:
			fmt.Fprintf(&b, `\u%04x`, r)
		}
	}
	return b.Bytes()
}

func hidden(r rune) bool { return r != '\n' && !unicode.IsGraphic(r) }
