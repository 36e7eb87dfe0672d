package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/postbag/postbag/cmd/postbag/internal/component"
	"github.com/postbag/postbag/cmd/postbag/internal/config"
	"github.com/postbag/postbag/cmd/postbag/internal/duration"
	"github.com/postbag/postbag/cmd/postbag/internal/exit"
	"github.com/postbag/postbag/cmd/postbag/internal/remote"
	"github.com/postbag/postbag/cmd/postbag/internal/terminal"
	"github.com/postbag/postbag/store"
)

// run executes a command line and returns the exit code.
func run(ctx context.Context, args []string, c *terminal.Terminal) exit.Code {
	root := newRoot(c)
	root.SetArgs(args)
	root.SetIn(c.In)
	root.SetOut(c.Out)
	root.SetErr(c.Err)
	c.Words = component.Kinds().InSettings
	cmd, err := root.ExecuteContextC(ctx)
	err = missing(cmd, err)
	code := exit.Of(err)
	if _, compares := cmd.Annotations[differs]; compares {
		code = exit.OfComparison(err)
	}
	if code == exit.Interrupted {
		err = interrupted(err)
	}
	if err != nil {
		c.Fail(err)
	}
	return code
}

// interrupted says what stands of a command that was ended.
func interrupted(err error) error {
	if errors.Is(err, remote.ErrMayStand) {
		return fmt.Errorf("interrupted; %w", remote.ErrMayStand)
	}
	return errors.New("interrupted; what was done until then stands")
}

// missing says which box, or which subscription of a box, that the flags name is not there, and what to do.
func missing(cmd *cobra.Command, err error) error {
	name, box := cmd.Flags().Lookup("subscription"), cmd.Flags().Lookup("box")
	if box != nil && box.Value.Type() == "string" && errors.Is(err, store.ErrNoBox) && !slices.Contains([]string{"relay", "publish"}, cmd.Name()) { // these say more
		return exit.With(exit.NotFound, fmt.Errorf("there is no box %[1]s; postbag status lists those there are, and postbag migrate up --box %[1]s makes it",
			terminal.Printable(box.Value.String())))
	}
	if !errors.Is(err, store.ErrNoSubscription) || name == nil || box == nil || name.Value.String() == "" {
		return err
	}
	return exit.With(exit.NotFound, fmt.Errorf("box %s has no subscription %s; postbag subscriptions list has those there are, and a relay that names a new one makes it",
		terminal.Printable(box.Value.String()), terminal.Printable(name.Value.String())))
}

// newRoot makes the command tree. This is the one place that knows all commands.
func newRoot(c *terminal.Terminal) *cobra.Command {
	var version bool
	root := &cobra.Command{
		Use:   "postbag",
		Short: "A transactional outbox: the relay and its tools",
		Long: "Postbag delivers the messages that applications commit together with their data.\n\n" +
			"Exit codes:\n" + exitCodes() + "\n" +
			"A secret is never an argument: name an environment variable or a file that holds it.",
		SilenceUsage:  true,
		SilenceErrors: true,
		Args:          topLevel,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if version {
				b := thisBuild()
				return showBuild(c, &b)
			}
			return cmd.Help()
		},

		PersistentPreRunE: func(cmd *cobra.Command, _ []string) error {
			if err := emptyFlag(cmd); err != nil {
				return err
			}
			return noServer(cmd)
		},
	}
	root.PersistentFlags().BoolVar(&c.JSON, "json", false, "write JSON for programs")
	root.PersistentFlags().String("server", "", "") // those that take it say so; the others say why not
	_ = root.PersistentFlags().MarkHidden("server") // the flag is there
	root.Flags().BoolVar(&version, "version", false, "say which version this is")
	root.SetFlagErrorFunc(flagFault)
	root.AddCommand(
		newRelayCommand(c),
		newConsumeCommand(c),
		newMigrateCommand(c),
		newPlanCommand(c),
		newApplyCommand(c),
		newExportCommand(c),
		newStatusCommand(c),
		newMetricsCommand(c),
		newConsoleCommand(c),
		newPublishCommand(c),
		newWakeCommand(c),
		newAdoptCommand(c),
		newMessagesCommand(c),
		newShardsCommand(c),
		newSubscriptionsCommand(c),
		newRetentionCommand(c),
		newReplayCommand(c), newOperationsCommand(c),
		newMaintainCommand(c),
		newAuditCommand(c),
		newLedgerCommand(c),
		newInboxCommand(c),
		newConfigCommand(c),
		newGrantsCommand(c),
		newWebhookSecretCommand(c),
		newVersionCommand(c),
	)
	return root
}

// emptyFlag refuses a flag with an empty text, which a variable of the shell without a value leaves: a filter would
// select everything. A payload may be empty.
func emptyFlag(cmd *cobra.Command) error {
	for _, name := range changed(cmd) {
		if f := cmd.Flags().Lookup(name); f.Value.Type() == "string" && f.Value.String() == "" && name != "payload" {
			return exit.Usagef("--%s is empty; give it a value, or leave it out", name)
		}
	}
	return nil
}

// flagFault says what is wrong with a flag: of a number and a switch in words, for which the library has those of Go's parser.
func flagFault(cmd *cobra.Command, err error) error {
	if wrong, ok := errors.AsType[*pflag.InvalidValueError](err); ok {
		switch f := wrong.GetFlag(); f.Value.Type() {
		case "int", "int64":
			return exit.Usagef("--%s is no whole number, or too large; write it in digits", f.Name)
		case "float64":
			return exit.Usagef("--%s is no number; write it in digits", f.Name)
		case "duration":
			return exit.Usagef("--%s is no duration; write %s", f.Name, duration.Forms)
		case "bool":
			return exit.Usagef("--%s is neither true nor false; write it without a value, or one of them", f.Name)
		}
	}
	if unknown, ok := errors.AsType[*pflag.NotExistError](err); ok {
		if args := cmd.Flags().Args(); cmd.HasSubCommands() && len(args) > 0 { // the flag is that of a command with a slip
			return topLevel(cmd, args)
		}
		if name := flagLike(cmd, unknown.GetSpecifiedName()); name != "" {
			return exit.Usagef("%w; did you mean --%s?", err, name)
		}
	}
	return exit.Usagef("%w; see %s --help", err, cmd.CommandPath())
}

// flagLike returns the flag of cmd that is spelt like name, or nothing. A name of one or two letters is like too many.
func flagLike(cmd *cobra.Command, name string) string {
	if len(name) < 3 {
		return ""
	}
	var names []string
	cmd.Flags().VisitAll(func(f *pflag.Flag) { names = append(names, f.Name) })
	return config.Alike(name, names)
}

func exitCodes() string {
	var b strings.Builder
	for _, code := range exit.Codes() {
		_, _ = fmt.Fprintf(&b, "  %-4d %s\n", code, code.Meaning())
	}
	return b.String()
}

// topLevel refuses a command that does not exist, with those that are spelt alike.
func topLevel(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	cmd.SuggestionsMinimumDistance = 2
	fix := "see " + cmd.CommandPath() + " --help"
	if alike := cmd.SuggestionsFor(args[0]); len(alike) > 0 {
		fix = "did you mean " + strings.Join(alike, " or ") + "?"
	}
	return exit.Usagef("there is no command %.40q; %s", args[0], fix)
}

// group makes a command that only holds others.
func group(use, short string, commands ...*cobra.Command) *cobra.Command {
	cmd := &cobra.Command{
		Use: use, Short: short, Args: topLevel,
		RunE: func(cmd *cobra.Command, _ []string) error {
			var names []string
			for _, sub := range cmd.Commands() {
				names = append(names, sub.Name())
			}
			return exit.Usagef("%s is incomplete; say which: %s", cmd.CommandPath(), strings.Join(names, ", "))
		},
	}
	cmd.AddCommand(commands...)
	return cmd
}

// none accepts no arguments. It does not quote what came: it may be a secret.
func none(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	fix := "see " + cmd.CommandPath() + " --help"
	if cmd.Flags().Lookup("config") != nil {
		fix = "name a configuration file with -c, or " + fix
	}
	return exit.Usagef("%s takes no arguments beside flags, and got %d; %s", cmd.CommandPath(), len(args), fix)
}

// exactly accepts one argument, which what describes.
func exactly(what string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if len(args) == 1 {
			return nil
		}
		return exit.Usagef("%s takes one argument, %s, and got %d; see %s --help", cmd.CommandPath(), what, len(args), cmd.CommandPath())
	}
}

// argumentOr accepts what describes one thing: as the argument, or as the value of a flag. Not both.
func argumentOr(what, flag string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		given := cmd.Flags().Changed(flag)
		switch {
		case given && len(args) > 0:
			return exit.Usagef("%s is named by an argument and by --%s; keep one", strings.TrimPrefix(what, "the name of "), flag)
		case given:
			return nil
		}
		return exactly(what+" (or --"+flag+")")(cmd, args)
	}
}
