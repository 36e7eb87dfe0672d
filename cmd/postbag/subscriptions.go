package main

import (
	"github.com/spf13/cobra"

	"github.com/postbag/postbag/cmd/postbag/internal/terminal"
	"github.com/postbag/postbag/internal/operations"
)

func newSubscriptionsCommand(c *terminal.Terminal) *cobra.Command {
	return group("subscriptions", "Hold a subscription, or let it go on", newPauseCommand(c, true), newPauseCommand(c, false))
}

// newPauseCommand is the command that pauses, or the one that resumes.
func newPauseCommand(c *terminal.Terminal, pause bool) *cobra.Command {
	var f storeFlags
	var r refFlags
	var a auditFlags
	cmd := &cobra.Command{
		Use: "pause", Short: "Hold a subscription: its relays send nothing until it is resumed",
		Long: `Hold a subscription. Relays hear of it within a moment. They keep its shards, and wait for
answers to what they sent; they send and read nothing more, and change no number of attempts.
Messages wait in the box, so watch its disk. The pause outlasts relays, and --drain waits for
its end.`,
		Example: `  postbag subscriptions pause -c postbag.yaml --subscription billing --why "bad deployment"`,
		Args:    none,
		RunE: func(cmd *cobra.Command, _ []string) error {
			ref, audit, err := r.one(&a)
			if err != nil {
				return err
			}
			do := func(s operations.Store) error { return s.SetPaused(cmd.Context(), audit, ref, pause) }
			if err := f.operate(cmd.Context(), do); err != nil {
				return err
			}
			if c.JSON {
				return c.Emit(map[string]any{"box": ref.Box, "subscription": ref.Subscription, "paused": pause})
			}
			if pause {
				c.Sayf("%s is paused; relays send nothing of it until postbag subscriptions resume", ref)
			} else {
				c.Sayf("%s goes on", ref)
			}
			return nil
		},
	}
	if !pause {
		cmd.Use, cmd.Short = "resume", "Let a paused subscription go on"
		cmd.Long = `Let a paused subscription go on where it was. Relays hear of it within a moment.`
		cmd.Example = `  postbag subscriptions resume -c postbag.yaml --subscription billing --why "rolled back"`
	}
	f.add(cmd)
	r.add(cmd, "default")
	a.add(cmd)
	return cmd
}
