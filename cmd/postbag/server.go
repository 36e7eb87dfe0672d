package main

import (
	"context"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/postbag/postbag/cmd/postbag/internal/component"
	"github.com/postbag/postbag/cmd/postbag/internal/config"
	"github.com/postbag/postbag/cmd/postbag/internal/exit"
	"github.com/postbag/postbag/cmd/postbag/internal/remote"
)

// Variables that say which console is asked, and with which token.
const (
	serverVariable = "POSTBAG_SERVER"
	tokenVariable  = "POSTBAG_TOKEN"
)

// byServer is the annotation of commands that can ask a console.
const byServer = "server"

// serverFlags say which console a command asks in place of a database.
type serverFlags struct {
	url, database, tokenFile, caFile string
}

// addServer adds the flags of a command that can ask a console, beside those of a store.
func (f *storeFlags) addServer(cmd *cobra.Command) {
	f.add(cmd)
	s := &f.server
	cmd.Flags().StringVar(&s.url, "server", "", "ask the console at this `URL` in place of a database; "+serverVariable+" when no store is given either")
	cmd.Flags().StringVar(&s.database, "database", "", "with --server: which of its databases, if it has several: its `name`")
	cmd.Flags().StringVar(&s.tokenFile, "token-file", "", "with --server: `file` that holds the token; "+tokenVariable+" when left out")
	cmd.Flags().StringVar(&s.caFile, "ca-file", "", "with --server: PEM `file` of the authorities that sign its certificate; those of the system when left out")
	if cmd.Annotations == nil {
		cmd.Annotations = make(map[string]string)
	}
	cmd.Annotations[byServer] = ""
}

// given says whether a console is asked.
func (s *serverFlags) given(f *storeFlags) bool {
	return s.url != "" || f.count() == 0 && os.Getenv(serverVariable) != ""
}

// noServer refuses --server where a command cannot ask a console, and flags that contradict it where it can.
func noServer(cmd *cobra.Command) error {
	_, can := cmd.Annotations[byServer]
	named, store := cmd.Flags().Changed("server"), first(cmd, "config", "store", "store-env", "store-file")
	switch asks := named || store == "" && os.Getenv(serverVariable) != ""; {
	case named && !can:
		return exit.Usagef("%s cannot ask a console, which has nothing like it; leave --server out, and run it where the database can be reached, such as with -c or --store-env", cmd.CommandPath())
	case !can:
		return nil
	case named && store != "":
		return exit.Usagef("--server and --%s are given; give the one that the command is to ask", store)
	case asks:
		if name := first(cmd, "profile", "store-name", "store-kind"); name != "" {
			return exit.Usagef("--%s goes with a store, and the command asks a console; leave it out, or name a store and no console", name)
		}
		if cmd.Flags().Changed("who") {
			return exit.Usagef("--who goes without a console, which knows who you are by your token; leave it out")
		}
		return nil
	}
	if name := first(cmd, "database", "token-file", "ca-file"); name != "" {
		return exit.Usagef("--%s goes with --server; it is for the console that is asked in place of a database", name)
	}
	return nil
}

// first is the first of some flags that the command line sets. Empty: none is set.
func first(cmd *cobra.Command, names ...string) string {
	for _, name := range names {
		if cmd.Flags().Changed(name) {
			return name
		}
	}
	return ""
}

// at has do ask the console.
func (s *serverFlags) at(ctx context.Context, do func(*remote.Client) error) error {
	o := remote.Options{URL: s.url, Database: s.database}
	if o.URL == "" {
		o.URL = os.Getenv(serverVariable)
	}
	var err error
	if o.Token, err = s.token(); err != nil {
		return err
	}
	if o.Authorities, err = component.Authorities(s.caFile); err != nil {
		return exit.Usagef("--ca-file: %w", err)
	}
	c, err := remote.Open(ctx, o)
	if err != nil {
		return err
	}
	defer c.Close()
	return do(c)
}

// token reads the token from its file, or from the environment. Empty: there is none.
func (s *serverFlags) token() (string, error) {
	text, from := os.Getenv(tokenVariable), tokenVariable
	if s.tokenFile != "" {
		secret, err := config.FromEither("", s.tokenFile)
		if err != nil {
			return "", exit.Usagef("--token-file %w", err)
		}
		text, from = secret, "--token-file"
	}
	text = strings.TrimSpace(text)
	if strings.ContainsFunc(text, func(r rune) bool { return r <= ' ' || r > '~' }) {
		return "", exit.Usagef("%s has no token, but other text; give the one line that postbag console token showed", from)
	}
	return text, nil
}
