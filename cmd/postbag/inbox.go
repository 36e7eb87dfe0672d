package main

import (
	"time"

	"github.com/spf13/cobra"

	"github.com/postbag/postbag/cmd/postbag/internal/duration"
	"github.com/postbag/postbag/cmd/postbag/internal/exit"
	"github.com/postbag/postbag/cmd/postbag/internal/terminal"
	"github.com/postbag/postbag/internal/operations"
)

func newInboxCommand(c *terminal.Terminal) *cobra.Command {
	return group("inbox", "Say how long consumers' marks are kept, and remove old ones",
		newInboxKeepCommand(c), newInboxListCommand(c), newInboxForgetCommand(c))
}

func newInboxKeepCommand(c *terminal.Terminal) *cobra.Command {
	var f storeFlags
	var keep time.Duration
	var consumer string
	cmd := &cobra.Command{
		Use:   "keep CONSUMER",
		Short: "Say for how long a consumer's marks are kept",
		Long: `Say for how long the marks of a consumer are kept. A consumer that nobody named has its marks kept for
30 days. Keep them for longer than the broker can bring a message again: a message that comes after
its mark is gone is applied a second time.`,
		Example: `  postbag inbox keep billing --for 90d --store-env DATABASE_URL`,
		Args:    argumentOr("a consumer", "consumer"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if keep == 0 {
				return exit.Usagef("it is not said for how long; write --for with %s", duration.Forms)
			}
			if len(args) > 0 {
				consumer = args[0]
			}
			return f.operate(cmd.Context(), func(s operations.Store) error {
				if err := s.KeepMarks(cmd.Context(), consumer, keep); err != nil {
					return err
				}
				if c.JSON {
					return c.Emit(map[string]any{"consumer": consumer, "keep": keep.String()})
				}
				c.Sayf("the marks of %s are kept for %s", terminal.Printable(consumer), keep)
				return nil
			})
		},
	}
	f.add(cmd)
	cmd.Flags().StringVar(&consumer, "consumer", "", "`name` of the consumer, in place of the argument")
	cmd.Flags().Var(duration.Flag(&keep), "for", "for how `long`, at least a minute: "+duration.Forms)
	return cmd
}

func newInboxListCommand(c *terminal.Terminal) *cobra.Command {
	var f storeFlags
	cmd := &cobra.Command{
		Use:   "list",
		Short: "List the consumers whose marks are not kept for the default time",
		Args:  none,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return f.operate(cmd.Context(), func(s operations.Store) error {
				consumers, err := s.Consumers(cmd.Context())
				if err != nil {
					return err
				}
				var rows [][]string
				for _, one := range consumers {
					if c.JSON {
						if err := c.Line(map[string]any{"consumer": one.Name, "keep": one.Keep.String()}); err != nil {
							return err
						}
					}
					rows = append(rows, []string{terminal.Printable(one.Name), one.Keep.String()})
				}
				switch {
				case c.JSON:
					return nil
				case len(rows) == 0:
					c.Sayf("the marks of all consumers are kept for the default time")
					return nil
				}
				return c.Table([]string{"CONSUMER", "KEEP"}, rows)
			})
		},
	}
	f.add(cmd)
	return cmd
}

func newInboxForgetCommand(c *terminal.Terminal) *cobra.Command {
	var f storeFlags
	cmd := &cobra.Command{
		Use:   "forget",
		Short: "Remove marks whose time is over",
		Long: `Remove the marks of consumers whose time is over. A relay does that every hour, and a program with
an inbox can do it itself. Use this command, from a timer, if you have neither. It works in small
steps, and no consumer waits for more than one of them. If another process is at it, the
command says so and ends.`,
		Example: `  postbag inbox forget --store-env DATABASE_URL`,
		Args:    none,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return f.operate(cmd.Context(), func(s operations.Store) error {
				done, err := s.ForgetMarks(cmd.Context())
				switch {
				case err != nil:
					return err
				case c.JSON:
					return c.Emit(map[string]any{"looked": done.Looked, "removed": done.Removed, "busy": done.Busy})
				case done.Busy:
					c.Sayf("another process removes old marks now; there is nothing to do")
				default:
					c.Sayf("looked at %d marks and removed %d", done.Looked, done.Removed)
				}
				return nil
			})
		},
	}
	f.add(cmd)
	return cmd
}
