package terminal

import (
	"fmt"
	"io"
	"os"
	"strings"

	"golang.org/x/term"

	"github.com/postbag/postbag/cmd/postbag/internal/config"
)

// Terminal is where a command reads and writes.
type Terminal struct {
	In       io.Reader
	Out, Err io.Writer
	// JSON: standard output is for programs.
	JSON bool
	// Words puts an error into the words of its reader. Nil leaves it as it is.
	Words func(text string) string
}

// Sayf writes a line to standard output.
func (c *Terminal) Sayf(format string, args ...any) {
	_, _ = fmt.Fprintf(c.Out, format+"\n", args...)
}

// Notef writes a line to standard error, so that standard output stays data.
func (c *Terminal) Notef(format string, args ...any) {
	_, _ = fmt.Fprintf(c.Err, format+"\n", args...)
}

// Fail writes an error to standard error in its reader's words, each of its lines
// begun with the program's name.
func (c *Terminal) Fail(err error) {
	text := c.InWords(err.Error())
	for line := range strings.SplitSeq(config.Redact(text), "\n") {
		_, _ = fmt.Fprintln(c.Err, "postbag:", Printable(line))
	}
}

// InWords puts a text of a library, such as an error, into the words of its reader.
func (c *Terminal) InWords(text string) string {
	if c.Words == nil || !strings.Contains(text, "ption") { // nothing of Go's options is in it
		return text
	}
	return c.Words(text)
}

// IsTerminal says whether a stream is a terminal that can redraw a line.
func IsTerminal(stream any) bool {
	f, ok := stream.(*os.File)
	return ok && term.IsTerminal(int(f.Fd())) && os.Getenv("TERM") != "dumb"
}
