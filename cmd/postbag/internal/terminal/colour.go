package terminal

import "os"

// Colour is how a text looks on a terminal.
type Colour string

// The colours.
const (
	Green  Colour = "\x1b[32m"
	Yellow Colour = "\x1b[33m"
	Red    Colour = "\x1b[31m"
	Faint  Colour = "\x1b[2m"
)

// Paint returns text in a colour if standard output is a terminal and nobody has set NO_COLOR (no-color.org), and text as it is
// otherwise.
func (c *Terminal) Paint(colour Colour, text string) string {
	return painted(colour, text, IsTerminal(c.Out) && os.Getenv("NO_COLOR") == "")
}

func painted(colour Colour, text string, colours bool) string {
	if !colours || text == "" {
		return text
	}
	return string(colour) + text + "\x1b[0m"
}
