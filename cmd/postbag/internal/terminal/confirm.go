package terminal

import (
	"bufio"
	"fmt"
	"strings"

	"github.com/postbag/postbag/cmd/postbag/internal/exit"
)

// Confirm asks before something that cannot be undone, and returns nil for yes.
func (c *Terminal) Confirm(question string) error {
	_, _ = fmt.Fprintf(c.Err, "%s [y/N] ", question)
	answer, err := bufio.NewReader(c.In).ReadString('\n')
	switch strings.ToLower(strings.TrimSpace(answer)) {
	case "y", "yes":
		return nil
	case "":
		if err != nil {
			_, _ = fmt.Fprintln(c.Err)
			return exit.Usagef("there was no answer to the question; run it on a terminal, or give --yes; nothing was done")
		}
	}
	return exit.Usagef("the answer was not yes; nothing was done")
}

// ConfirmName says what cannot be undone, and returns nil if the name of what it is about is typed.
func (c *Terminal) ConfirmName(warning, name string) error {
	_, _ = fmt.Fprintf(c.Err, "%s Type %s to go on: ", warning, name)
	answer, err := bufio.NewReader(c.In).ReadString('\n')
	switch answer = strings.TrimSpace(answer); {
	case answer == name:
		return nil
	case answer == "" && err != nil:
		_, _ = fmt.Fprintln(c.Err)
		return exit.Usagef("there was no answer to the question; run it on a terminal, or give --yes; nothing was done")
	}
	return exit.Usagef("that is not the name; nothing was done")
}
