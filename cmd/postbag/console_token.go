package main

import (
	"errors"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/postbag/postbag/cmd/postbag/internal/duration"
	"github.com/postbag/postbag/cmd/postbag/internal/exit"
	"github.com/postbag/postbag/cmd/postbag/internal/terminal"
	"github.com/postbag/postbag/console/login"
)

// consoleTokenFlags say where a token goes, and when it ends.
type consoleTokenFlags struct {
	file    string
	expires time.Duration
}

func newConsoleTokenCommand(c *terminal.Terminal) *cobra.Command {
	var f consoleTokenFlags
	cmd := &cobra.Command{
		Use:   "token NAME [GRANT...]",
		Short: "Make a token for the command line, and print its line for the access file of a console",
		Long: `Make a token with which the command line, or another program, uses a console. Print its line for the access
file of the console. The line has a hash alone. The token itself is shown once, on standard error, or goes
into a new file that only you can read. NAME is who it is for: the audit log names it. Grants are those of
postbag console user. Without a grant it is viewer.

To take a token away, delete its line: it is refused within a second. A second line with the same name is a
second token, so that you can replace one without a break.`,
		Example: `  postbag console token ann operator@shop --expires 90d >> access
  postbag console token nightly-report viewer --token-file token >> access`,
		Args: cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error { return f.run(cmd, c, args) },
	}
	cmd.Flags().StringVar(&f.file, "token-file", "", "write the token to this new `file`; without it, to standard error")
	cmd.Flags().Var(duration.Flag(&f.expires), "expires", "the token ends after this `duration`: "+duration.Forms+"; never when left out")
	return cmd
}

func (f *consoleTokenFlags) run(cmd *cobra.Command, c *terminal.Terminal, args []string) error {
	grants, err := lineWords(args)
	if err != nil {
		return err
	}
	if cmd.Flags().Changed("expires") && f.expires <= 0 {
		return exit.Usagef("--expires is not above zero; write %s", duration.Forms)
	}
	token, hash := login.NewToken()
	line := "token " + args[0] + " " + hash
	if f.expires > 0 {
		line += " expires=" + time.Now().Add(f.expires).UTC().Format(time.RFC3339)
	}
	line += " " + strings.Join(grants, " ")
	switch {
	case f.file != "":
		if err := newSecretFile(f.file, token); err != nil {
			return err
		}
		token = ""
	case !c.JSON:
		c.Notef("the token, which is shown this once: %s", token)
	}
	if c.JSON {
		out := map[string]string{"line": line}
		if token != "" {
			out["token"] = token
		}
		return c.Emit(out)
	}
	c.Sayf("%s", line)
	return nil
}

// newSecretFile writes a secret to a file that is not there yet, and that its owner alone can read.
func newSecretFile(path, secret string) error {
	file, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return exit.Usagef("--token-file cannot be made: %w; name a file that is not there yet", err)
	}
	_, err = file.WriteString(secret + "\n")
	return errors.Join(err, file.Close())
}
