package main

import (
	"github.com/spf13/cobra"

	"github.com/postbag/postbag/cmd/postbag/internal/component"
	"github.com/postbag/postbag/cmd/postbag/internal/config"
	"github.com/postbag/postbag/cmd/postbag/internal/exit"
	"github.com/postbag/postbag/cmd/postbag/internal/terminal"
)

// runFlags are what may be said of one run beside a configuration file.
type runFlags struct {
	admin     string
	logFormat string
	logLevel  string
}

func newConsumeCommand(c *terminal.Terminal) *cobra.Command {
	var from configFlags
	var f runFlags
	cmd := &cobra.Command{
		Use:   "consume",
		Short: "Take messages from brokers into boxes until told to stop",
		Long: `Take messages from the sources of a configuration file into boxes, until told to stop
(SIGINT, SIGTERM, SIGQUIT). Each message is stored once, and acknowledged after the commit.

postbag relay runs the sources of its file too. Use this command to run them alone, such as
beside relays on other machines. The log goes to standard error.`,
		Example: `  postbag consume -c postbag.yaml`,
		Args:    none,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := from.check(); err != nil {
				return err
			}
			if !from.given() {
				return exit.Usagef("-c is missing; name a configuration file that has sources")
			}
			file, err := from.read(false)
			if err != nil {
				return err
			}
			if len(file.Sources) == 0 {
				return exit.Usagef("%s has no sources; add them, or deliver messages with postbag relay", terminal.Printable(from.String()))
			}
			f.set(cmd, file)
			if err := file.Check("the command line", component.Kinds()); err != nil {
				return exit.With(exit.Usage, err)
			}
			file.Destinations, file.Subscriptions = nil, nil // others deliver
			return runRelay(cmd.Context(), c, file, false)
		},
	}
	from.add(cmd)
	f.add(cmd)
	return cmd
}

func (f *runFlags) add(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.StringVar(&f.admin, "admin", "", "listen at this `address` for health checks and metrics; a bare port means loopback")
	flags.StringVar(&f.logFormat, "log-format", "text", "text or json")
	flags.StringVar(&f.logLevel, "log-level", "info", "debug, info, warn or error")
	_ = cmd.RegisterFlagCompletionFunc("log-format", words("text", "json")) // the flags are there
	_ = cmd.RegisterFlagCompletionFunc("log-level", words("debug", "info", "warn", "error"))
}

// set puts what the command line says into the file.
func (f *runFlags) set(cmd *cobra.Command, file *config.File) {
	for _, flag := range changed(cmd) {
		switch flag {
		case "admin":
			file.Admin.Listen = f.admin
		case "log-format":
			file.Log.Format = f.logFormat
		case "log-level":
			file.Log.Level = f.logLevel
		}
	}
}
